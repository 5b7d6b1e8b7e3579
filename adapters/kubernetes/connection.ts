import type { Server } from "./server.ts";

/** How to reach a cluster: EKS's description with a source of tokens, or a kubeconfig file. */
export type Connection =
  | {
      /** "https://…". */
      readonly server: string;
      /** PEM in base64: the only authority whose server certificate is accepted. */
      readonly caData: string;
      /** Returns a bearer token; called with `renew` once after the server has refused a token. */
      readonly token: (options?: { readonly renew?: boolean }) => Promise<string>;
    }
  | { readonly kubeconfig: string; readonly context?: string };

/**
 * The server of a connection. A kubeconfig, which only users' machines have, is read at the first request, because its
 * reader is a third of a function's code.
 */
export function serverOf(connection: Connection): Server {
  if ("kubeconfig" in connection) {
    let reading: Promise<Server> | undefined;
    return {
      name: connection.kubeconfig,
      async identify(options) {
        reading ??= import("./kubeconfig.ts").then(({ readKubeconfig }) => readKubeconfig(connection));
        return (await reading).identify(options);
      },
    };
  }
  const url = connection.server.replace(/\/+$/, "");
  const tls = { ca: Buffer.from(connection.caData, "base64"), rejectUnauthorized: true };
  return {
    name: url,
    identify: async (options) => ({ url, tls, headers: { Authorization: `Bearer ${await connection.token(options)}` } }),
  };
}
