import type { AgentOptions, RequestOptions } from "node:https";
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

/** Who we are to a server, and which certificates we take from it: for one request. */
export interface Identity {
  readonly headers: Readonly<Record<string, string>>;
  /** "user:password", where a kubeconfig has them. */
  readonly auth?: string;
  /** For the agent. The same each time. */
  readonly tls: AgentOptions;
}

/** A server's URL without a slash at its end, and who we are to it. */
export interface Server {
  readonly url: string;
  readonly identify: (options?: { readonly renew?: boolean }) => Promise<Identity>;
}

/**
 * Identity and trust as @kubernetes/client-node's KubeConfig reads them. Throws a sentence for a kubeconfig without a cluster.
 *
 * Weight, minified (two shared cores, median of 5): the whole package 1.41 MB and 221 ms to import, dist/config.js alone 1.28 MB and 187 ms;
 * with `undici` and its `./gen/index.js`, which nothing here calls, replaced by stubs 0.20 MB and 125 ms.
 */
export function serverOf(connection: Connection): Server {
  let renewing = false;
  const kubeConfig = loadKubeConfig(connection, () => renewing);
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) {
    const file = "kubeconfig" in connection ? connection.kubeconfig : "The connection";
    throw new Error(`${file} names no cluster for its current context; set one with kubectl config use-context.`);
  }
  return {
    url: cluster.server.replace(/\/+$/, ""),
    async identify({ renew = false } = {}) {
      const options: RequestOptions = { headers: {} };
      renewing = renew;
      try {
        await kubeConfig.applyToHTTPSOptions(options);
      } finally {
        renewing = false;
      }
      const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
      return {
        headers: options.headers as Record<string, string>,
        ...(options.auth ? { auth: options.auth } : {}),
        tls: defined({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }),
      };
    },
  };
}

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

function defined(options: { readonly [K in keyof AgentOptions]?: AgentOptions[K] | undefined }): AgentOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
