import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { Readings } from "../adapters/kubernetes/informer.ts";
import { provenFirst } from "../adapters/kubernetes/proven-first.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

const KUBERNETES_WRITES = ["create", "update", "updateStatus", "delete", "evict"] as const satisfies readonly (keyof Kubernetes)[];
/** Leases, first sightings and unavailable offerings do not depend on what was read of the cluster. */
const STORE_WRITES = [
  ...(["writeIntents", "create", "update", "remove"] as const),
  ...(["createCommand", "updateCommand", "removeCommand"] as const),
] satisfies readonly (keyof NodeClaimStore)[];

/**
 * The ports of one decision: lists come from the informer, and writes wait until what has been read is proven to be up
 * to date.
 */
export function forDecision<D extends Pick<ClusterDeps, "kubernetes" | "store">>(deps: D, { list, prove }: Readings): D {
  return {
    ...deps,
    kubernetes: provenFirst({ ...deps.kubernetes, list }, KUBERNETES_WRITES, prove),
    store: provenFirst(deps.store, STORE_WRITES, prove),
  };
}
