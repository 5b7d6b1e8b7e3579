import { provenFirst } from "#adapters/kubernetes/proven-first.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

const KUBERNETES_WRITES = [
  "create",
  "update",
  "updateStatus",
  "delete",
  "evict",
  "nominate",
] as const satisfies readonly (keyof Kubernetes)[];
/**
 * Leases, `isFirstWithin` and marks of unavailable offerings are written at once, because they do not depend on what
 * was read of the cluster.
 */
const STORE_WRITES = [
  ...(["writeIntents", "create", "update", "remove"] as const),
  ...(["createCommand", "updateCommand", "removeCommand"] as const),
] satisfies readonly (keyof NodeClaimStore)[];

/**
 * The ports with each write of a decision waiting for `check`: that what was read is up to date (Readings.prove), or
 * that the lease is still held. When the check fails, the write throws its error and does nothing.
 */
export function checkedWrites<K extends Kubernetes>(
  { kubernetes, store }: { readonly kubernetes: K; readonly store: NodeClaimStore },
  check: () => Promise<void>,
): { readonly kubernetes: K; readonly store: NodeClaimStore } {
  return { kubernetes: provenFirst(kubernetes, KUBERNETES_WRITES, check), store: provenFirst(store, STORE_WRITES, check) };
}
