import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { dnsSuffix } from "#settings/partitions.ts";
import type { CredentialSource } from "./assume-role.ts";

/** A service of AWS and who calls it. */
export interface SignedCaller {
  /** The name that the service is signed for, such as "secretsmanager". */
  readonly service: string;
  readonly region: string;
  readonly credentials: CredentialSource;
  /** The endpoint of the region when absent. */
  readonly endpoint?: string;
  /** For tests. */
  readonly fetch?: typeof globalThis.fetch;
  readonly timeoutMs?: number;
}

export interface SignedRequest {
  readonly method: "GET" | "POST" | "PUT" | "HEAD";
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const TIMEOUT_MS = 5_000;

/**
 * Sends one request with AWS's signature, for services of which one call is needed and whose SDK client would add
 * hundreds of kilobytes to a bundle. Retries only what a closed connection has not taken, and only what may be repeated
 * (no POST); rejects with one sentence when no answer comes in time.
 */
export async function signedFetch(caller: SignedCaller, { method, path = "/", headers = {}, body }: SignedRequest): Promise<Response> {
  const { service, region, credentials, fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS } = caller;
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const url = new URL(path, caller.endpoint ?? `https://${service}.${region}.${dnsSuffix(region)}`);
  const { headers: signed } = await signer.sign(
    new HttpRequest({
      ...{ method, protocol: url.protocol, hostname: url.hostname, path, headers: { host: url.host, ...headers } },
      ...(url.port !== "" && { port: Number(url.port) }),
      ...(body !== undefined && { body }),
    }),
  );
  // fetch sets it, and refuses it from others.
  const { host: _host, ...sent } = signed;
  const send = (): Promise<Response> =>
    fetch(url.href, { method, headers: sent, signal: AbortSignal.timeout(timeoutMs), ...(body !== undefined && { body }) });
  try {
    // A connection that the service has closed is noticed only by its use, when a command has computed meanwhile.
    return await send().catch((error: Error) => (method !== "POST" && isClosed(error.cause) ? send() : Promise.reject(error)));
  } catch (error) {
    // fetch says only "fetch failed"; the cause says why.
    const { cause = error } = error as Error;
    throw new Error(`${url.host} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

const isClosed = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ECONNRESET" || cause.code === "UND_ERR_SOCKET");
