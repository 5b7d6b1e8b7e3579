import { createServer, type Server } from "node:https";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { bundleCode } from "#infra/build.ts";
import { freePort } from "../../e2e/support/child.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";

type Handler = (event: Partial<LambdaFunctionURLEvent>, context: object) => Promise<Exclude<LambdaFunctionURLResult, string>>;

/** The admission function's bundle behind an HTTPS address of this machine, as its function URL would answer. */
export interface AdmissionHost {
  readonly url: string;
  /** How often each duty was called since the last look: "convert", "validate", "default". */
  calls(): Readonly<Record<string, number>>;
  /** Takes requests and does not answer them, until `up`. */
  hang(): void;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/**
 * Bundles the function into a folder, loads it and serves it. Its environment is this process's own, so there is one
 * host per process.
 */
export async function startAdmissionHost(
  cluster: Pick<TestCluster, "tls" | "clusterName">,
  token: string,
  dir: string,
): Promise<AdmissionHost> {
  const { file } = await bundleCode("admission", join(dir, "dist"));
  Object.assign(process.env, {
    AWS_REGION: "us-west-2",
    TABLE_NAME: "none",
    CLUSTERS: JSON.stringify([{ name: cluster.clusterName }]),
    ADMISSION_TOKEN: token,
    POWERTOOLS_DEV: "true",
  });
  const { handler } = (await import(pathToFileURL(file).href)) as { readonly handler: Handler };
  const counts = new Map<string, number>();
  let isHanging = false;
  const server: Server = createServer(cluster.tls, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const path = new URL(request.url ?? "/", "https://host").pathname;
    const duty = path.split("/").at(-1) ?? "";
    counts.set(duty, (counts.get(duty) ?? 0) + 1);
    if (isHanging) return;
    const answer = await handler({ rawPath: path, body, isBase64Encoded: false }, {});
    response.writeHead(answer.statusCode ?? 200, answer.headers as Readonly<Record<string, string>>).end(answer.body);
  });
  const listen = async (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  // It returns on the same port, one that no outgoing connection takes meanwhile.
  const port = await freePort();
  await listen(port);
  return {
    url: `https://127.0.0.1:${port}`,
    calls: () => {
      const taken = Object.fromEntries(counts);
      counts.clear();
      return taken;
    },
    hang: () => {
      isHanging = true;
    },
    down: async () => {
      isHanging = false;
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
    up: async () => {
      isHanging = false;
      server.closeAllConnections();
      if (!server.listening) await listen(port);
    },
  };
}
