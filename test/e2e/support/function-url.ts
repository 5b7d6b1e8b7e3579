import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCluster } from "./cluster.ts";

/**
 * A function URL that the API server can call: `https://127.0.0.1:port`, with a certificate of the cluster's authority.
 */
export type FunctionUrlGateway = { readonly url: string; readonly caBundle: string; readonly stop: () => Promise<void> };

/**
 * A gateway for a function URL: `https://ID.lambda-url.REGION.on.aws/` as in the stack's output cannot be resolved
 * here. Requests are forwarded to MiniStack with path, query and body unchanged.
 */
export async function startFunctionUrlGateway(options: {
  readonly ministackUrl: string;
  readonly functionUrl: string;
  readonly cluster: Pick<TestCluster, "tls" | "caData">;
}): Promise<FunctionUrlGateway> {
  const { ministackUrl, functionUrl, cluster } = options;
  const id = new URL(functionUrl).hostname.split(".")[0];
  const server = createServer(cluster.tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answered = fetch(`${ministackUrl}/_aws/lambda-url/${id}${request.url}`, {
        method: request.method ?? "POST",
        headers: { "content-type": request.headers["content-type"] ?? "application/json" },
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      }).then(async (answer) => {
        // Reads the whole body first, because a killed function may cut it short, and an answer begun as 200 cannot
        // become 502.
        const body = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
        response.end(body);
      });
      answered.catch((error: unknown) => response.writeHead(502).end(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: cluster.caData,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
