// The metrics function: serves Karpenter's metrics of all clusters to scrapers. In: GET /metrics with a bearer token.
// Out: OpenMetrics, or Prometheus' text format. It reads clusters and the table, and writes only the sums of metrics.

import { gzipSync } from "node:zlib";
import type { LambdaFunctionURLEvent } from "aws-lambda";
import { answer, type HttpResponse, urlEvent } from "#adapters/lambda/function-url.ts";
import type { PathToken } from "#adapters/lambda/path-token.ts";
import { textAt } from "#core/lib/json.ts";
import { readQuery, type ScrapeDeps, scrape } from "./scrape.ts";

export interface MetricsDeps extends ScrapeDeps {
  readonly isToken: PathToken;
}

/** A response whose body may be bytes in base64. */
type Response = HttpResponse & { readonly isBase64Encoded?: true };

/** Lambda takes a response of 6 MB; the base64 of a body is a third longer. */
const MAX_BODY_BYTES = 6 * 1_024 * 1_024 - 64 * 1_024;

const CONTENT_TYPES = {
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  text: "text/plain; version=0.0.4; charset=utf-8",
} as const;

/** The entry of the function. It takes any value, because anybody may invoke a function by hand. */
export const metricsEntry =
  (deps: MetricsDeps) =>
  async (event: LambdaFunctionURLEvent): Promise<Response> => {
    const json = urlEvent(event);
    const header = (name: string): string => textAt(json, ["headers", name]) ?? "";
    const method = textAt(json, ["requestContext", "http", "method"]) ?? "GET";
    const [, token = ""] = /^Bearer (\S+)$/i.exec(header("authorization")) ?? [];
    const query = new URLSearchParams(textAt(json, ["rawQueryString"]) ?? "");
    if (!(await mayRead(token, query.getAll("cluster"), deps.isToken))) {
      const message =
        "Give the token of the stack's output MetricsTokenArn as: Authorization: Bearer TOKEN; the token of one cluster is good for ?cluster=NAME.";
      const refused = answer(401, { message });
      return { ...refused, headers: { ...refused.headers, "www-authenticate": "Bearer" } };
    }
    if ((textAt(json, ["rawPath"]) ?? "").replace(/\/$/, "") !== "/metrics")
      return answer(404, { message: "There is only the path /metrics." });
    if (method !== "GET") return answer(405, { message: `/metrics is read with GET, not with ${method.slice(0, 10)}.` });
    const asked = readQuery(query, await deps.clusters());
    if (typeof asked === "string") return answer(400, { message: asked });
    const format = wantsOpenMetrics(query, header("accept")) ? "openmetrics" : "text";
    const text = await scrape({ ...asked, format }, deps);
    return packed(text, CONTENT_TYPES[format], header("accept-encoding").includes("gzip"));
  };

/** The stack's token reads all clusters; a cluster's own, made of it, reads that one alone, where it is named. */
async function mayRead(token: string, clusters: readonly string[], isToken: PathToken): Promise<boolean> {
  return (await isToken(token)) || (clusters.length === 1 && (await isToken(token, clusters[0])));
}

/**
 * Prometheus accepts both formats and gets the text format, as from Karpenter, because there a quantile is "1" as
 * Karpenter's dashboards write it and not "1.0".
 */
function wantsOpenMetrics(query: URLSearchParams, accept: string): boolean {
  return query.get("format") === "openmetrics" || (accept.includes("application/openmetrics-text") && !/text\/plain|\*\/\*/.test(accept));
}

function packed(text: string, contentType: string, isZipped: boolean): Response {
  const bytes = isZipped ? gzipSync(text) : Buffer.from(text);
  const length = isZipped ? Math.ceil(bytes.length / 3) * 4 : bytes.length;
  if (length > MAX_BODY_BYTES)
    return answer(413, {
      message: `The metrics are ${length} bytes, Lambda answers with ${MAX_BODY_BYTES} at most; ask for one cluster at a time (?cluster=NAME), for fewer groups (?collect[]=nodepools), or with accept-encoding: gzip.`,
    });
  const headers = { "content-type": contentType, "cache-control": "no-store" };
  if (!isZipped) return { statusCode: 200, headers, body: text };
  return { statusCode: 200, headers: { ...headers, "content-encoding": "gzip" }, body: bytes.toString("base64"), isBase64Encoded: true };
}
