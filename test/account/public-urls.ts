import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

/**
 * The internet, as far as webhooks need it: a proxy that answers for https://ID.lambda-url.REGION.on.aws with a
 * certificate that both the API server and the person's program trust. So the URL that `install` writes into the
 * cluster is called as it stands, by the API server and by `doctor`.
 */
export interface PublicUrls {
  /** Variables of whoever calls them: Go's and Node's own for a proxy and for trusted certificates. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the functions run; unknown until MiniStack runs. */
  target: string;
  /** HTTP statuses of the POSTs so far, in order: API servers POST. */
  readonly answers: readonly number[];
  stop(): Promise<void>;
}

export async function startPublicUrls(dataDir: string, region: string): Promise<PublicUrls> {
  const domain = `lambda-url.${region}.on.aws`;
  const [key, cert] = ["urls.key", "urls.crt"].map((name) => join(dataDir, name)) as [string, string];
  const subject = ["-subj", `/CN=${domain}`, "-addext", `subjectAltName=DNS:*.${domain}`];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...made, ...subject], { stdio: "ignore" });
  const answers: number[] = [];
  let target = "";
  const urls = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  const proxy = createServer((_, response) => response.writeHead(400).end("only CONNECT is answered here"));
  proxy.on("connect", ({ url = "" }: IncomingMessage, socket: Socket) => {
    socket.on("error", () => socket.destroy());
    if (!url.endsWith(`.${domain}:443`)) return socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    return urls.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    env: { HTTPS_PROXY: address, NO_PROXY: "127.0.0.1,localhost", SSL_CERT_FILE: cert, NODE_USE_ENV_PROXY: "1", NODE_EXTRA_CA_CERTS: cert },
    answers,
    get target() {
      return target;
    },
    set target(url) {
      target = url;
    },
    async stop() {
      proxy.closeAllConnections();
      urls.closeAllConnections();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const id = String(request.headers.host).split(".")[0];
    const answered = await fetch(`${target}/_aws/lambda-url/${id}${request.url}`, {
      method: request.method ?? "POST",
      headers: { "content-type": request.headers["content-type"] ?? "application/json" },
      ...(chunks.length > 0 && { body: new Uint8Array(Buffer.concat(chunks)) }),
    });
    const body = Buffer.from(await answered.arrayBuffer());
    if (request.method === "POST") answers.push(answered.status);
    response.writeHead(answered.status, { "content-type": answered.headers.get("content-type") ?? "application/json" });
    response.end(body);
  }
}
