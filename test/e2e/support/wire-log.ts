import { appendFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";

/**
 * Writes a request to the file that WIRE_REQUESTS names, as a line of JSON with the body in base64; does nothing
 * without the variable. `npm run verify -- models --wire FILE` judges the file.
 */
export function recordWire({ method, url, headers }: IncomingMessage, body: Buffer): void {
  const { WIRE_REQUESTS: file } = process.env;
  if (file === undefined) return;
  const told = { authorization: headers.authorization, "x-amz-target": headers["x-amz-target"] };
  appendFileSync(file, `${JSON.stringify({ method, url, headers: told, body: body.toString("base64") })}\n`);
}
