// Room console/server: serves the page and its data to this machine. In: a source (source.ts). Out: a URL with a
// secret in it, which answers until it is closed. It must not know what a cluster is, and it can change nothing.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Assets, pageAssets } from "./assets.ts";
import type { ViewSource } from "./source.ts";

/** A view that is served. */
export interface ServedView {
  /** http://127.0.0.1:PORT/TOKEN/ */
  readonly url: string;
  /**
   * A URL that leads to the page once. What opens a browser is given this one: other users of the machine can read the
   * arguments of a process, and its code is spent by then.
   */
  openOnce(): string;
  close(): Promise<void>;
}

/** The port cannot be listened on; the message is one sentence. */
export class PortError extends Error {}

const ADDRESS = "127.0.0.1";
/** The first part of the path of a URL that is good for one call. */
const ONCE = "once";

/** 192 bits: they cannot be guessed, and a URL of them is still short enough to copy. */
const TOKEN_BYTES = 24;

/** Shorter answers are not worth packing. */
const MIN_PACKED_BYTES = 2_000;

/** How often a silent connection shows that it is alive, so that a page sees when the command has ended. */
const HEARTBEAT_MS = 15_000;

const HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/**
 * Serves a view on 127.0.0.1 until it is closed. Nothing is answered without the token in the path, and nothing to a
 * page of another origin: a Host header that is not this server's own is refused, so that no name that an attacker
 * points at 127.0.0.1 reaches it.
 */
export async function serveView(source: ViewSource, { port = 0 }: { readonly port?: number } = {}): Promise<ServedView> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const codes = new Set<string>();
  const assets = await pageAssets();
  const streams = new Set<ServerResponse>();
  let hosts: ReadonlySet<string> = new Set();
  const server = createServer((request, response) => {
    void answer(request, response, { token, codes, hosts, assets, source, streams }).catch(() => end(response, 500));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(new PortError(`port ${port} cannot be used (${code}); give another one with --port, or leave it out`)),
    );
    server.listen(port, ADDRESS, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  hosts = new Set([`${ADDRESS}:${bound}`, `localhost:${bound}`]);
  const tell = (): void => {
    for (const stream of streams) stream.write(revisionEvent(source));
  };
  const stop = source.onChange(tell);
  const beat = setInterval(() => {
    for (const stream of streams) stream.write(":\n\n");
  }, HEARTBEAT_MS);
  beat.unref();
  return {
    url: `http://${ADDRESS}:${bound}/${token}/`,
    openOnce: () => {
      const code = randomBytes(TOKEN_BYTES).toString("base64url");
      codes.add(code);
      return `http://${ADDRESS}:${bound}/${ONCE}/${code}`;
    },
    close: async () => {
      stop();
      clearInterval(beat);
      for (const stream of streams) stream.end();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Served {
  readonly token: string;
  /** Of the URLs that are good for one more call each. */
  readonly codes: Set<string>;
  readonly hosts: ReadonlySet<string>;
  readonly assets: Assets;
  readonly source: ViewSource;
  readonly streams: Set<ServerResponse>;
}

async function answer(request: IncomingMessage, response: ServerResponse, served: Served): Promise<void> {
  const { token, codes, hosts, assets, source, streams } = served;
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (!hosts.has(request.headers.host ?? "")) return end(response, 421);
  if (request.headers["sec-fetch-site"] === "cross-site" && request.headers["sec-fetch-mode"] !== "navigate") return end(response, 403);
  const [, given = "", ...rest] = (request.url ?? "/").split(/[?#]/)[0]?.split("/") ?? [];
  if (given === ONCE && request.method === "GET" && codes.delete(rest.join("/"))) {
    response.setHeader("Location", `/${token}/`);
    return end(response, 302);
  }
  if (!isSame(given, token)) return end(response, 404);
  if (request.method !== "GET") return end(response, 405);
  const path = rest.join("/");
  const asset = assets.get(path === "" ? "index.html" : path);
  if (asset) return await send(request, response, asset.type, asset.body);
  if (path === "events") return stream(response, source, streams);
  const data = await dataOf(path, source);
  if (data === undefined) return end(response, 404);
  await send(request, response, "application/json; charset=utf-8", Buffer.from(JSON.stringify(data)));
}

/** The answer to a path of docs/view-data.md; undefined when there is none. */
async function dataOf(path: string, source: ViewSource): Promise<object | undefined> {
  if (path === "data/index.json") return source.index();
  const [, id = "", what, of = ""] = /^data\/scenes\/([^/]+)\/(overview|pods|past|nodeclaims)(?:\/([^/]+))?\.json$/.exec(path) ?? [];
  const scene = decoded(id);
  switch (what) {
    case "overview":
      return of === "" ? await source.scene(scene) : undefined;
    case "pods":
      return of === "" ? await source.pods(scene) : undefined;
    case "past":
      return DAYS.test(of) ? await source.past?.(scene, Number(of)) : undefined;
    case "nodeclaims":
      return of === "" ? undefined : await source.story?.(scene, decoded(of));
    default:
      return undefined;
  }
}

/** Days that a page may ask about: a history is kept for a month, or for some. */
const DAYS = /^[1-9]\d{0,2}$/;

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return "";
  }
}

/** Equal, in a time that does not depend on where they differ. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

function stream(response: ServerResponse, source: ViewSource, streams: Set<ServerResponse>): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(revisionEvent(source));
  streams.add(response);
  response.on("close", () => streams.delete(response));
}

const revisionEvent = (source: ViewSource): string => `event: revision\ndata: ${source.index().revision}\n\n`;

async function send(request: IncomingMessage, response: ServerResponse, type: string, body: Buffer): Promise<void> {
  response.setHeader("Content-Type", type);
  const packs = body.length >= MIN_PACKED_BYTES && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  if (!packs) return void response.end(body);
  response.setHeader("Content-Encoding", "gzip");
  // Level 1 packs a megabyte in some milliseconds; the bytes only cross this machine.
  response.end(await promisify(gzip)(body, { level: 1 }));
}

function end(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.statusCode = status;
  response.end();
}
