import type { AgentOptions } from "node:https";

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

/** Who we are to a server, and which certificates we take from it: for one request. */
export interface Identity {
  /** The server's, without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** "user:password", where a kubeconfig has them. */
  readonly auth?: string;
  /** For the agent. The same each time. */
  readonly tls: AgentOptions;
}

/** A server, and who we are to it. */
export interface Server {
  /** What to call it in a sentence: its URL, or the file that names it. */
  readonly name: string;
  readonly identify: (options?: { readonly renew?: boolean }) => Promise<Identity>;
}

/** Identity and trust. A kubeconfig, which only people's machines have, is read at the first request: its reader is a third of a function's code. */
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
