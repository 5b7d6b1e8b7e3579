import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, type AgentOptions, request as httpsRequest, type RequestOptions } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
// config.js rather than the package: 10 % less to load, and the rest of it (the generated models, undici) can be left out of a bundle.
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";

/** How to reach a cluster: what EKS tells about it and a source of tokens, or a kubeconfig file. */
export type Connection =
  | {
      /** "https://…". */
      readonly server: string;
      /** PEM in base64: the only authority that the server's certificate may come from. */
      readonly caData: string;
      /** `renew` is asked for once after the server has refused a token. */
      readonly token: (options?: { readonly renew?: boolean }) => Promise<string>;
    }
  | { readonly kubeconfig: string; readonly context?: string };

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

export interface ApiResponse {
  readonly status: number;
  /** Parsed; a text that is not JSON stays text. */
  readonly body: unknown;
}

export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

const REQUEST_TIMEOUT_MS = 10_000;
/** Before each further attempt, ms. Known in advance, so that a function can tell how long a call may last. */
const PAUSES_MS = [100, 300, 900];
const MAX_RETRY_AFTER_MS = 2_000;
const unzip = promisify(gunzip);

function loadKubeConfig(connection: Connection, renewing: () => boolean): KubeConfig {
  const kubeConfig = new KubeConfig();
  if ("kubeconfig" in connection) {
    kubeConfig.loadFromFile(connection.kubeconfig);
    if (connection.context !== undefined) {
      kubeConfig.setCurrentContext(connection.context);
    }
    return kubeConfig;
  }
  kubeConfig.loadFromClusterAndUser(
    { name: "cluster", server: connection.server, caData: connection.caData, skipTLSVerify: false },
    { name: "function", authProvider: { name: "token-source" } },
  );
  kubeConfig.addAuthenticator({
    isAuthProvider: (user) => user.authProvider?.name === "token-source",
    applyAuthentication: async (_user, options) => {
      options.headers = { ...options.headers, Authorization: `Bearer ${await connection.token({ renew: renewing() })}` };
    },
  });
  return kubeConfig;
}

/**
 * HTTPS to one API server: identity and trust by @kubernetes/client-node's KubeConfig, the bytes by node:https over connections that are
 * kept between calls. Its object model would parse each list twice and hold it three times. Answers of any status are returned; throws
 * only when there is none within 10 s.
 *
 * Reads are tried four times on 429, 5xx and broken connections, other calls only on a connection that had died while the function was
 * frozen, before it carried the request.
 *
 * Weight, minified (two shared cores, median of 5): the whole package 1.41 MB and 221 ms to import, dist/config.js alone 1.28 MB and 187 ms;
 * with `undici` and its `./gen/index.js`, which nothing here calls, replaced by stubs 0.20 MB and 125 ms.
 */
export function httpsTransport(connection: Connection, exchange: Exchange = overHttps): Transport {
  let renew = false;
  const kubeConfig = loadKubeConfig(connection, () => renew);
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) {
    const file = "kubeconfig" in connection ? connection.kubeconfig : "The connection";
    throw new Error(`${file} names no cluster for its current context; set one with kubectl config use-context.`);
  }
  const server = cluster.server.replace(/\/+$/, "");
  let agent: Agent | undefined;

  async function once(request: ApiRequest): Promise<ApiResponse & { readonly retryAfterMs?: number }> {
    const auth: RequestOptions = { headers: {} };
    await kubeConfig.applyToHTTPSOptions(auth);
    const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = auth;
    // Theirs does not keep connections: each call would cost a TLS handshake.
    agent ??= new Agent({
      keepAlive: true,
      // An idle one is closed after half a minute: the network between may forget it, and a thawed function's first call would hang on it.
      timeout: 30_000,
      maxSockets: 16,
      ...defined({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }),
    });
    const given = Object.entries(request.query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const query = new URLSearchParams(given);
    const url = `${server}${request.path}${query.size > 0 ? `?${query}` : ""}`;
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options: RequestOptions = {
      method: request.method,
      agent,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      headers: {
        ...(auth.headers as Record<string, string>),
        Accept: "application/json",
        "Accept-Encoding": "gzip",
        "User-Agent": "karpenter-serverless",
        ...(body && { "Content-Type": "application/json", "Content-Length": body.length }),
      },
      ...(auth.auth ? { auth: auth.auth } : {}),
    };
    const { status, headers, bytes } = await exchange(url, options, body);
    const text = (headers["content-encoding"] === "gzip" ? await unzip(bytes) : bytes).toString("utf8");
    const retryAfterMs = Number(headers["retry-after"]) * 1_000;
    return { status, body: parsed(text), ...(retryAfterMs > 0 && { retryAfterMs }) };
  }

  async function authenticated(request: ApiRequest): ReturnType<typeof once> {
    const response = await once(request);
    if (response.status !== 401) {
      return response;
    }
    renew = true;
    try {
      return await once(request);
    } finally {
      renew = false;
    }
  }

  return async (request) => {
    for (let attempt = 0; ; attempt++) {
      const pauseMs = PAUSES_MS[attempt];
      try {
        const response = await authenticated(request);
        const passing = response.status === 429 || response.status >= 500;
        if (pauseMs === undefined || request.method !== "GET" || !passing) {
          return response;
        }
        await sleep(Math.min(response.retryAfterMs ?? pauseMs, MAX_RETRY_AFTER_MS));
      } catch (error) {
        if (pauseMs === undefined || (request.method !== "GET" && !(error instanceof StaleConnectionError))) {
          const why =
            error instanceof Error && error.name === "AbortError" ? `no answer within ${REQUEST_TIMEOUT_MS / 1_000} s` : "no answer";
          throw new Error(`${request.method} ${server}${request.path}: ${why}`, { cause: error });
        }
        await sleep(pauseMs);
      }
    }
  };
}

/** The server had closed a kept connection before the request went out on it. */
export class StaleConnectionError extends Error {
  override readonly name = "StaleConnectionError";
}

/** One request and its whole answer; a seam for tests, which have no certificates. */
export type Exchange = (
  url: string,
  options: RequestOptions,
  body: Buffer | undefined,
) => Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }>;

const overHttps: Exchange = async (url, options, body) => {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpsRequest(url, options, resolve);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(stale ? new StaleConnectionError("the kept connection was closed", { cause: error }) : error);
    });
    sent.end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of message) {
    chunks.push(chunk as Buffer);
  }
  return { status: message.statusCode ?? 0, headers: message.headers, bytes: Buffer.concat(chunks) };
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function defined(options: { readonly [K in keyof AgentOptions]?: AgentOptions[K] | undefined }): AgentOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
