import type { AgentOptions } from "node:https";

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

/** The identity for one request, and the server certificates that it accepts. */
export interface Identity {
  /** The server's URL, without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** "user:password", if the kubeconfig has them. */
  readonly auth?: string;
  /** Options of the HTTPS agent; the same object each time. */
  readonly tls: AgentOptions;
}

/** A server and the identity for it. */
export interface Server {
  /** Its name in error sentences: its URL, or the kubeconfig file. */
  readonly name: string;
  readonly identify: (options?: { readonly renew?: boolean }) => Promise<Identity>;
}

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
