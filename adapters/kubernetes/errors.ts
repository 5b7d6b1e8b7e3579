import { ConflictError, NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { Kind } from "#core/ports/kubernetes.ts";
import { RESOURCES } from "./kinds.ts";
import type { ApiResponse } from "./transport.ts";

/** The API server's message about a failure (metav1.Status). */
export function messageOf({ status, body }: ApiResponse): string {
  const message = (body as { readonly message?: unknown } | null)?.message;
  return typeof message === "string" && message !== ""
    ? message
    : `HTTP ${status} ${typeof body === "string" ? body.trim().slice(0, 200) : ""}`.trim();
}

/**
 * The port's error for an answer that is no success.
 * @param doing the start of the sentence, such as "creating NodeClaim default-x"
 */
export function failure(response: ApiResponse, doing: string): Error {
  const text = `${doing}: ${messageOf(response)}`;
  const { status } = response;
  if (status === 404) {
    return new NotFoundError(text);
  }
  if (status === 409) {
    return new ConflictError(text);
  }
  if (status === 429 || status >= 500) {
    return new ThrottledError(text);
  }
  if (status === 401) {
    return new RefusedError(`${text}; give this function's role an access entry in the cluster.`);
  }
  // An admission policy or webhook also answers 403; RBAC names the verb.
  if (status === 403 && /cannot \w+ resource/.test(text)) {
    return new RefusedError(`${text}; apply infra/rbac and give the access entry of this function's role the group that it names.`);
  }
  return status >= 400 ? new RefusedError(text) : new Error(text);
}

/** The error for a 404 of a list, which means that the API server does not know the kind. */
export function unknownKind(kind: Kind): Error {
  const { apiVersion, plural, custom } = RESOURCES[kind];
  const remedy = custom ? "install the custom resource definitions with: kubectl apply -f infra/crds" : "it is too old for this product";
  return new RefusedError(`The cluster has no ${kind} resources (${plural}, ${apiVersion}); ${remedy}.`);
}
