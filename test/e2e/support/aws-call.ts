import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";

/** The endpoint and the credentials of AWS calls. */
export type AwsTarget = {
  readonly url: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
};

/**
 * Sends a signed request, for services whose SDK client the product does not need. Throws with the body of a failed
 * answer.
 */
export async function awsRequest(
  target: AwsTarget,
  service: string,
  request: {
    readonly method: "GET" | "POST" | "PUT" | "DELETE";
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array;
  },
): Promise<string> {
  const url = new URL(request.path ?? "/", target.url);
  const signer = new SignatureV4({
    credentials: target.credentials,
    region: target.region,
    service,
    sha256: Sha256,
    uriEscapePath: service !== "s3",
  });
  const signed = await signer.sign(
    new HttpRequest({
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      port: Number(url.port),
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
    }),
  );
  const { host: _host, ...headers } = signed.headers; // fetch sets it
  const response = await fetch(url, { method: request.method, headers, ...(request.body === undefined ? {} : { body: request.body }) });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${service} ${request.method} ${url.pathname}: ${response.status}: ${text.trim().slice(0, 1500)}`);
  }
  return text;
}

/** A call of the AWS JSON protocol: `awsJson(target, "logs", "Logs_20140328.PutLogEvents", {…})`. */
export async function awsJson<T = unknown>(target: AwsTarget, service: string, operation: string, input: unknown): Promise<T> {
  const text = await awsRequest(target, service, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": operation },
    body: JSON.stringify(input),
  });
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** A call of the AWS query protocol; gives the XML. */
export async function awsQuery(
  target: AwsTarget,
  service: string,
  version: string,
  action: string,
  input: Readonly<Record<string, string>>,
): Promise<string> {
  return await awsRequest(target, service, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ Action: action, Version: version, ...input }).toString(),
  });
}
