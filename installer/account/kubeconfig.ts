import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { messageOf } from "#adapters/kubernetes/errors.ts";
import type { Transport } from "#adapters/kubernetes/transport.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { listed } from "#core/scheduling/reasons/words.ts";
import { InputError } from "#terminal/input-error.ts";

/** The cluster that a kubeconfig and a context name. */
export interface KubeconfigCluster {
  /** Path of the file. */
  readonly kubeconfig: string;
  readonly context: string;
  /** The server's URL. */
  readonly server: string;
}

const WRITE_ONE = "write one with aws eks update-kubeconfig --name CLUSTER, or name another file with --kubeconfig";

/**
 * Finds the server of a context before any request, so that a missing file and a missing context are said as such.
 * Throws InputError.
 */
export async function kubeconfigCluster(given: { readonly kubeconfig?: string; readonly context?: string }): Promise<KubeconfigCluster> {
  const kubeconfig = given.kubeconfig ?? process.env["KUBECONFIG"] ?? join(homedir(), ".kube", "config");
  if (given.kubeconfig === undefined && kubeconfig.includes(delimiter))
    throw new InputError(`KUBECONFIG names several files, ${kubeconfig}; name one of them with --kubeconfig`);
  if (!existsSync(kubeconfig)) throw new InputError(`there is no kubeconfig ${kubeconfig}; ${WRITE_ONE}`);
  // Only a live cluster loads the client.
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  try {
    config.loadFromFile(kubeconfig);
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new InputError(`${kubeconfig} is not a kubeconfig: ${why}; ${WRITE_ONE}`);
  }
  const contexts = config.getContexts().map(({ name }) => name);
  const there = contexts.length === 0 ? "it has no context" : `it has ${listed(contexts)}`;
  const context = given.context ?? config.getCurrentContext();
  if (!context) throw new InputError(`${kubeconfig} has no current context; ${there}: name one with --context`);
  if (!contexts.includes(context))
    throw new InputError(`there is no context ${context} in ${kubeconfig}; ${there}: name one of these with --context`);
  config.setCurrentContext(context);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined)
    throw new InputError(`context ${context} in ${kubeconfig} names a cluster that is not in the file; ${WRITE_ONE}`);
  return { kubeconfig, context, server };
}

/**
 * The transport with sentences for a person at a terminal in place of a function's sentences: what keeps the server
 * from answering, and what to do. An answer 403 stays a RefusedError, because some kinds may be missing.
 */
export function explained(send: Transport, cluster: KubeconfigCluster): Transport {
  return async (request) => {
    const response = await send(request).catch((error: unknown) => {
      throw new InputError(noAnswer(error, cluster), { cause: error });
    });
    const { context, kubeconfig, server } = cluster;
    if (response.status === 401)
      throw new InputError(
        `${server} does not accept the credentials of context ${context} (401); log in again, or renew them with aws eks update-kubeconfig`,
      );
    if (response.status === 403)
      throw new RefusedError(
        `${server} does not let the user of context ${context} in ${kubeconfig} read ${request.path} (403: ${messageOf(response)}); give this user a ClusterRole with get and list, as in infra/rbac, or name another context with --context`,
      );
    return response;
  };
}

const CERTIFICATE = /CERT|SIGNATURE|ISSUER|^ERR_TLS/;

function noAnswer(error: unknown, { server, context, kubeconfig }: KubeconfigCluster): string {
  const cause = rootOf(error);
  const code = (cause as NodeJS.ErrnoException).code ?? cause.name;
  const where = `the server of context ${context} in ${kubeconfig}`;
  if (code === "ECONNREFUSED") return `${server} refuses the connection; start that cluster, or correct ${where}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `the host of ${server} is not known (${code}); connect to the cluster's network or VPN, or correct ${where}`;
  if (["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ABORT_ERR", "AbortError", "TimeoutError"].includes(code) || isTimeout(error))
    return `${server} does not answer within 10 s; connect to the cluster's network or VPN, or let its public endpoint accept this address`;
  if (CERTIFICATE.test(code))
    return `the certificate of ${server} is not trusted (${code}); correct certificate-authority-data of its cluster in ${kubeconfig}`;
  return `${server} cannot be asked: ${cause.message.split("\n")[0]}; check the user of context ${context} in ${kubeconfig} with kubectl auth whoami`;
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.message.includes("no answer within");

/** The error that began a chain of causes, and the first of several attempts to connect. */
function rootOf(error: unknown): Error {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return rootOf(error.errors[0]);
  if (error instanceof Error) return error.cause instanceof Error ? rootOf(error.cause) : error;
  return new Error(String(error));
}
