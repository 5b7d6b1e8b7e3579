import type { AgentOptions } from "node:https";

/** The identity for one request, and the server certificates that it accepts. */
interface Identity {
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
