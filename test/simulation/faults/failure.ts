import { ConflictError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { Failure } from "../script.ts";

/** The error of a failed call, as the adapters would throw it. */
export function errorOf(failure: Failure): Error {
  switch (failure) {
    case "conflict":
      return new ConflictError("409 or a failed condition: somebody else has changed it (injected)");
    case "throttled":
      return new ThrottledError("429: too many requests (injected)");
    case "server":
      return new Error("socket hang up (injected)");
    case "refused":
      return new RefusedError("403 Forbidden: denied by a policy (injected)");
    case "expired":
      return new RefusedError("410 Gone: the resourceVersion is too old (injected)");
  }
}

const REFUSING: ReadonlySet<string> = new Set(["kubernetes", "fleet", "inventory"]);
const CONFLICTING: ReadonlySet<string> = new Set([
  ...["update", "updateStatus", "create", "evict", "remove", "writeIntents", "createCommand", "updateCommand", "removeCommand"],
]);

/**
 * The failure that this call can really have: only writes conflict, only lists expire, and only the API server, EC2
 * and IAM refuse, before the effect. For other calls the failure becomes that of an unreachable server. A lost answer
 * is a broken connection, except that DynamoDB's client repeats a write whose answer was lost, and then finds its own
 * version.
 */
export function fitting(failure: Failure, port: string, method: string, when: "before" | "after"): Failure {
  if (failure === "conflict" && (!CONFLICTING.has(method) || (when === "after" && port !== "store"))) return "server";
  if (failure === "refused" && (when === "after" || !REFUSING.has(port))) return "server";
  if (failure === "expired" && (port !== "kubernetes" || method !== "list" || when === "after")) return "server";
  return failure;
}
