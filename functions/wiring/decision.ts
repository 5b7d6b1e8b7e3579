import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { Readings } from "../adapters/kubernetes/informer.ts";
import { managedObjects } from "../adapters/kubernetes/managed-objects.ts";
import { provenFirst } from "../adapters/kubernetes/proven-first.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

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

/** The ports of a cluster as they are kept while the function is warm. */
export type ConnectedDeps = Omit<ClusterDeps, "kubernetes"> & { readonly kubernetes: Kubernetes };

/**
 * The ports of one decision: its lists come from the informer, its writes wait until it is certain that those lists
 * were current, and what another controller serves is hidden.
 */
export function forDecision<D extends Pick<ConnectedDeps, "kubernetes" | "store">>(deps: D, { list, prove }: Readings) {
  return {
    ...deps,
    kubernetes: managedObjects(provenFirst({ ...deps.kubernetes, list }, KUBERNETES_WRITES, prove)),
    store: provenFirst(deps.store, STORE_WRITES, prove),
  };
}
