import { timingSafeEqual } from "node:crypto";
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { getAt, isJsonObject, type Json, type JsonObject, textAt } from "#core/lib/json.ts";

/** A request to a function URL or to an API of API Gateway, with its body decoded. */
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
    const json = urlEvent(event);
    const body = textAt(json, ["body"]) ?? "";
    const isBase64 = getAt(json, ["isBase64Encoded"]) === true;
    return handle({ path: textAt(json, ["rawPath"]) ?? "", body: isBase64 ? Buffer.from(body, "base64").toString("utf8") : body });
  };

/**
 * The event in the form of a function URL's, which an HTTP API shares. A REST API's has another: its path is without
 * the stage, and the names of its headers are as the caller wrote them.
 */
export function urlEvent(event: unknown): Json {
  const json = event as Json;
  if (!isJsonObject(json) || textAt(json, ["httpMethod"]) === undefined) return json;
  const mapAt = (key: string): readonly (readonly [string, Json])[] => {
    const found = getAt(json, [key]);
    return isJsonObject(found) ? Object.entries(found) : [];
  };
  const query = new URLSearchParams();
  for (const [name, values] of mapAt("multiValueQueryStringParameters"))
    for (const value of Array.isArray(values) ? values : []) query.append(name, String(value));
  return {
    ...json,
    rawPath: textAt(json, ["path"]) ?? "",
    rawQueryString: query.toString(),
    headers: Object.fromEntries(mapAt("headers").map(([name, value]) => [name.toLowerCase(), value])),
    requestContext: { http: { method: textAt(json, ["httpMethod"]) ?? "" } },
  };
}

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
