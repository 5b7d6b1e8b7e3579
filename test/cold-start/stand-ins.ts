import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { TOKEN } from "./scene.ts";

/**
 * The services that a first invocation calls: an API server, DynamoDB and SQS. They answer at once and are empty except
 * for the cluster's address.
 */
export interface StandIns {
  /** https URL of the API server. */
  readonly apiServer: string;
  /** The certificate authority's PEM in base64. */
  readonly caData: string;
  /** URL of DynamoDB and SQS. */
  readonly tables: string;
  close(): Promise<void>;
}

/** Starts them on 127.0.0.1; `dir` takes the certificate. Needs openssl. */
export async function startStandIns(dir: string): Promise<StandIns> {
  const { cert, key } = selfSigned(dir);
  const apiServer = createHttpsServer({ cert, key }, (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "https://localhost");
    // Lists are empty, so no object can be requested by name.
    const isList = /\/(\w+s|endpoints)$/.test(pathname);
    const answer = pathname.startsWith("/version")
      ? { major: "1", minor: "36", gitVersion: "v1.36.0" }
      : isList
        ? { kind: "List", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] }
        : { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404, message: `${pathname} is not here` };
    response.writeHead("code" in answer ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const tables = createHttpServer(async (request, response) => {
    const { Entries = [], Key } = (await json(request).catch(() => ({}))) as TableRequest;
    const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
    const Successful = Entries.map(({ Id, MessageBody }) => ({ Id, MessageId: Id, MD5OfMessageBody: md5(MessageBody) }));
    // A lease is always granted: the update returns its token.
    const Item = Key?.pk.S === "document#cluster/c1" && Key.sk.S === "head" ? description(`https://127.0.0.1:${secure}`, cert) : undefined;
    const answer = { Items: [], Count: 0, Attributes: { token: { N: "1" } }, Successful, Item, SecretString: TOKEN };
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(answer));
  });
  const [secure, plain] = await Promise.all([listening(apiServer), listening(tables)]);
  return {
    apiServer: `https://127.0.0.1:${secure}`,
    caData: Buffer.from(cert).toString("base64"),
    tables: `http://127.0.0.1:${plain}`,
    async close() {
      for (const server of [apiServer, tables]) server.closeAllConnections();
      await Promise.all([apiServer, tables].map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
    },
  };
}

/** The parts of a DynamoDB or SQS request that are read. */
interface TableRequest {
  readonly Entries?: readonly { readonly Id: string; readonly MessageBody: string }[];
  readonly Key?: { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } };
}

/** What an earlier start has stored about the cluster (functions/wiring/cluster-facts.ts), in the table's format. */
function description(endpoint: string, cert: string): object {
  const facts = { name: "c1", endpoint, caBundle: Buffer.from(cert).toString("base64"), serviceCidr: "10.96.0.0/16" };
  const bytes = gzipSync(JSON.stringify({ describedAt: Date.now(), config: {}, facts })).toString("base64");
  return { version: { S: "1" }, chunks: { N: "0" }, bytes: { B: bytes } };
}

async function listening(server: Server | ReturnType<typeof createHttpsServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function selfSigned(dir: string): { readonly cert: string; readonly key: string } {
  const [certFile, keyFile] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const made = spawnSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"],
      ...["-subj", "/CN=cold-start", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", keyFile, "-out", certFile],
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0)
    throw new Error(`openssl, which makes the API server's certificate, failed: ${made.error?.message ?? made.stderr}`);
  return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
