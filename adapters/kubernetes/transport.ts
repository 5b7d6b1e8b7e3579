import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type Connection, serverOf } from "./connection.ts";
import { eachLine } from "./lines.ts";
import { parsedWithoutManagedFields } from "./without-managed-fields.ts";

export interface ApiRequest {
  /** The body of a PATCH is a JSON merge patch (RFC 7386), unless `contentType` says otherwise. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: "application/apply-patch+yaml";
  /** Forms of the answer; JSON by default. */
  readonly accept?: string;
}

export interface ApiResponse {
  readonly status: number;
  /** Parsed JSON, without the entries of managedFields; a text that is not JSON stays a string. */
  readonly body: unknown;
}

/** Sends one request and reads its whole answer. */
export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

/** A streaming answer: the listener gets each line until it ends. */
export interface ApiStream {
  readonly status: number;
  /**
   * Settles when no more lines arrive: the server has ended the stream, it broke, was closed, or has outlived its time.
   * Never rejects.
   */
  readonly ended: Promise<void>;
  /** Stops the stream: the listener gets no more lines. */
  close(): void;
}

/**
 * Opens a stream. Rejects when its head has not arrived within 2 s; it makes one attempt only, so that the caller can
 * do something else instead.
 */
export type OpenStream = (request: ApiRequest, onLine: (line: string) => void, lifetimeMs: number) => Promise<ApiStream>;

const REQUEST_TIMEOUT_MS = 10_000;
const HEAD_TIMEOUT_MS = 2_000;
/** Pauses before each further attempt, ms. They are fixed, so that a function knows how long a call may last. */
const PAUSES_MS = [100, 300, 900];
/**
 * How often a read waits for an answer for all of REQUEST_TIMEOUT_MS. A second time, because a kept connection may have
 * died in silence, and the server's name has several addresses. No more, because an API server that answers nothing
 * keeps the invocation, and one that is overloaded gets no relief.
 */
const MAX_TIMEOUTS = 2;
const MAX_RETRY_AFTER_MS = 2_000;
const unzip = promisify(gunzip);

/**
 * HTTPS to one API server: identity and trust by connection.ts, the bytes by node:https over kept connections, because
 * @kubernetes/client-node's object model would parse each list twice and hold it three times. Answers of any status are
 * returned; throws only when there is no answer within 10 s.
 *
 * Reads are tried four times on 429, 5xx and broken connections, twice when nothing is answered; other calls only when
 * a kept connection had died, while the function was frozen, before it carried the request.
 */
export function httpsTransport(
  connection: Connection,
  exchange: Exchange = overHttps,
): { readonly send: Transport; readonly open: OpenStream } {
  const channel = new Channel(connection, exchange);
  return { send: (request) => channel.send(request), open: (...args) => channel.open(...args) };
}

class Channel {
  readonly #server: ReturnType<typeof serverOf>;
  readonly #exchange: Exchange;
  #agent: Agent | undefined;

  constructor(connection: Connection, exchange: Exchange) {
    this.#server = serverOf(connection);
    this.#exchange = exchange;
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    let timeouts = 0;
    for (let tried = 0; ; tried++) {
      const pauseMs = PAUSES_MS[tried];
      try {
        const response = await this.#attempt(request);
        const passing = response.status === 429 || response.status >= 500;
        if (pauseMs === undefined || request.method !== "GET" || !passing) return response;
        await sleep(Math.min(response.retryAfterMs ?? pauseMs, MAX_RETRY_AFTER_MS));
      } catch (error) {
        const isTimeout = error instanceof Error && error.name === "AbortError";
        if (isTimeout) timeouts++;
        const mayRepeat = request.method === "GET" ? timeouts < MAX_TIMEOUTS : error instanceof StaleConnectionError;
        if (pauseMs === undefined || !mayRepeat) {
          const why = isTimeout ? `no answer within ${REQUEST_TIMEOUT_MS / 1_000} s` : "no answer";
          throw new Error(`${request.method} ${this.#server.name}${request.path}: ${why}`, { cause: error });
        }
        await sleep(pauseMs);
      }
    }
  }

  async open(...[request, onLine, lifetimeMs]: Parameters<OpenStream>): ReturnType<OpenStream> {
    const controller = new AbortController();
    let timer = setTimeout(() => controller.abort(), HEAD_TIMEOUT_MS);
    try {
      const { status, body } = await this.#authenticated(request, controller.signal);
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), lifetimeMs).unref();
      const reading = status >= 200 && status < 300 ? eachLine(body, (line) => !controller.signal.aborted && onLine(line)) : whole(body);
      const over = () => clearTimeout(timer);
      // The listener knows by the lines whether the stream was complete.
      return { status, ended: reading.then(over, over), close: () => controller.abort() };
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  }

  async #attempt(request: ApiRequest): Promise<ApiResponse & { readonly retryAfterMs?: number }> {
    const { status, headers, body } = await this.#authenticated(request, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
    const bytes = await whole(body);
    const text = (headers["content-encoding"] === "gzip" ? await unzip(bytes) : bytes).toString("utf8");
    const retryAfterMs = Number(headers["retry-after"]) * 1_000;
    return { status, body: parsed(text), ...(retryAfterMs > 0 && { retryAfterMs }) };
  }

  async #authenticated(request: ApiRequest, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#once(request, signal, false);
    if (answer.status !== 401) return answer;
    // The body is read to its end, so that the connection can be used again.
    await whole(answer.body);
    return await this.#once(request, signal, true);
  }

  async #once(request: ApiRequest, signal: AbortSignal, renew: boolean): Promise<Answer> {
    const { url: base, headers, auth, tls } = await this.#server.identify({ renew });
    // Kept connections: otherwise each call would cost a TLS handshake. An idle one is closed after half a minute: the
    // network in between may drop it, and the first call of a thawed function would hang on it.
    this.#agent ??= new Agent({ keepAlive: true, timeout: 30_000, maxSockets: 16, ...tls });
    const given = Object.entries(request.query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const query = new URLSearchParams(given);
    const url = `${base}${request.path}${query.size > 0 ? `?${query}` : ""}`;
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options: RequestOptions = {
      method: request.method,
      agent: this.#agent,
      signal,
      headers: {
        ...headers,
        Accept: request.accept ?? "application/json",
        "Accept-Encoding": "gzip",
        "User-Agent": "karpenter-serverless",
        ...(body && {
          "Content-Type": request.contentType ?? (request.method === "PATCH" ? "application/merge-patch+json" : "application/json"),
          "Content-Length": body.length,
        }),
      },
      ...(auth !== undefined && { auth }),
    };
    return await this.#exchange(url, options, body);
  }
}

/** The server had closed a kept connection before the request was sent on it. */
export class StaleConnectionError extends Error {
  override readonly name = "StaleConnectionError";
}

/** The head of an answer; its body arrives in pieces. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one request; replaced in tests, which have no certificates. */
export type Exchange = (url: string, options: RequestOptions, body: Buffer | undefined) => Promise<Answer>;

export const overHttps: Exchange = async (url, options, body) => {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpsRequest(url, options, resolve);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(stale ? new StaleConnectionError("the kept connection was closed", { cause: error }) : error);
    });
    sent.end(body);
  });
  return { status: message.statusCode ?? 0, headers: message.headers, body: message };
};

async function whole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parsed(text: string): unknown {
  try {
    return parsedWithoutManagedFields(text);
  } catch {
    return text;
  }
}
