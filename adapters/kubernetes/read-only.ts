import type { OpenStream, Transport } from "./transport.ts";

/** The one POST that stores nothing: whether the caller may do something. */
const REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * A transport that refuses every request but questions, so that no code above it can change the cluster.
 */
export function readOnly(send: Transport): Transport {
  return (request) => {
    if (request.method !== "GET" && request.path !== REVIEW) throw new Error(`${request.method} ${request.path}: this command only reads`);
    return send(request);
  };
}

/** A connection that passes on nothing but GET: get, list and watch. */
export function onlyGet({ send, open }: { readonly send: Transport; readonly open: OpenStream }) {
  const check = ({ method, path }: Parameters<Transport>[0]): void => {
    if (method !== "GET") throw new Error(`${method} ${path}: this command only reads`);
  };
  return {
    send: (request: Parameters<Transport>[0]) => {
      check(request);
      return send(request);
    },
    open: (...args: Parameters<OpenStream>) => {
      check(args[0]);
      return open(...args);
    },
  };
}
