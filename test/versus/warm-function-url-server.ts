import { createServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { LambdaFunctionURLEvent } from "aws-lambda";
import type { HttpResponse } from "#adapters/lambda/function-url.ts";

// The process of warm-function-url.ts: the handler of a bundle behind an HTTPS server. Arguments: the bundle and the
// port. Each invocation ends with a REPORT line on standard output.

/** No answer comes sooner, ms: about what a warm function takes with the way to its URL. */
const SOONEST_MS = 20;

type Handler = (event: LambdaFunctionURLEvent, context: object) => Promise<HttpResponse>;

const [bundle = "", port = ""] = process.argv.slice(2);
const { handler } = (await import(pathToFileURL(bundle).href)) as { readonly handler: Handler };

async function invoke(method: string, url: string, body: string): Promise<HttpResponse> {
  const began = Date.now();
  const [path = "/", rawQueryString = ""] = url.split("?");
  const http = { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "kube-apiserver" };
  const event = { version: "2.0", rawPath: path, rawQueryString, headers: {}, requestContext: { http }, body, isBase64Encoded: false };
  try {
    return await handler(event as unknown as LambdaFunctionURLEvent, {});
  } finally {
    console.log(`REPORT Duration: ${Date.now() - began} ms`);
    await sleep(Math.max(0, began + SOONEST_MS - Date.now()));
  }
}

const { TLS_CERT: cert, TLS_KEY: key } = process.env;
const server = createServer({ cert, key }, async (request, response) => {
  try {
    const chunks = (await request.toArray()) as Buffer[];
    const { statusCode, headers, body } = await invoke(
      request.method ?? "POST",
      request.url ?? "/",
      Buffer.concat(chunks).toString("utf8"),
    );
    response.writeHead(statusCode, headers).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(502).end(String(error));
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log("listening"));
