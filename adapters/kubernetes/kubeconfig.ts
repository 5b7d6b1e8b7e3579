import type { AgentOptions, RequestOptions } from "node:https";
// config.js rather than the package: 10 % less to load, and the rest of it (the generated models, undici) can be left
// out of a bundle.
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import type { Server } from "./server.ts";

/**
 * The server and identity of a kubeconfig, as @kubernetes/client-node's KubeConfig reads it. Throws a sentence for a
 * kubeconfig without a cluster.
 */
export function readKubeconfig({ kubeconfig, context }: { readonly kubeconfig: string; readonly context?: string }): Server {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(`${kubeconfig} names no cluster for its current context; set one with kubectl config use-context.`);
  }
  const url = cluster.server.replace(/\/+$/, "");
  return {
    name: url,
    // An exec plugin decides by itself when its token is too old.
    async identify() {
      const options: RequestOptions = { headers: {} };
      await config.applyToHTTPSOptions(options);
      const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
      return {
        url,
        headers: options.headers as Record<string, string>,
        ...(options.auth ? { auth: options.auth } : {}),
        tls: defined({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }),
      };
    },
  };
}

function defined(options: { readonly [K in keyof AgentOptions]?: AgentOptions[K] | undefined }): AgentOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
