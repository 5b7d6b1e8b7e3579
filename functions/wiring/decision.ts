import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { Readings } from "../adapters/kubernetes/informer.ts";
import { provenFirst } from "../adapters/kubernetes/proven-first.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

const KUBERNETES_WRITES = ["create", "update", "updateStatus", "delete", "evict"] as const satisfies readonly (keyof Kubernetes)[];
/** Leases, sightings and marks follow from no reading of the cluster. */
const STORE_WRITES = [
  ...(["writeIntents", "create", "update", "remove"] as const),
  ...(["createCommand", "updateCommand", "removeCommand"] as const),
] satisfies readonly (keyof NodeClaimStore)[];

/** The ports as one decision has them: it lists through the informer, and what it writes waits until what it has read is proven. */
export function forDecision<D extends Pick<ClusterDeps, "kubernetes" | "store">>(deps: D, { list, prove }: Readings): D {
  return {
    ...deps,
    kubernetes: provenFirst({ ...deps.kubernetes, list }, KUBERNETES_WRITES, prove),
    store: provenFirst(deps.store, STORE_WRITES, prove),
  };
}
