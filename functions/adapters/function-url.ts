import { timingSafeEqual } from "node:crypto";
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { getAt, isJsonObject, type Json, type JsonObject, textAt } from "../../core/lib/json.ts";

/** A request to a function URL, with its body decoded. */
export interface HttpRequest {
  readonly path: string;
  readonly body: string;
}

export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The entry of a function behind a function URL. It takes any value, because anybody may invoke a function by hand. */
export const functionUrlEntry =
  (handle: (request: HttpRequest) => Promise<HttpResponse>) =>
  async (event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> => {
    const json = event as unknown as Json;
    const body = textAt(json, ["body"]) ?? "";
    const isBase64 = getAt(json, ["isBase64Encoded"]) === true;
    return handle({ path: textAt(json, ["rawPath"]) ?? "", body: isBase64 ? Buffer.from(body, "base64").toString("utf8") : body });
  };

export function answer(statusCode: number, body: object): HttpResponse {
  return { statusCode, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Compares a secret in constant time, so that the time does not show how much of a guess is right. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The JSON object in a body; undefined when there is none. */
export function mapIn(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
