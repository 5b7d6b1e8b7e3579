import type { Readings } from "#adapters/kubernetes/informer.ts";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import { checkedWrites } from "../shared/checked-writes.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

/** The ports of a cluster as they are kept while the function is warm. */
export type ConnectedDeps = Omit<ClusterDeps, "kubernetes"> & { readonly kubernetes: Kubernetes };

/**
 * The ports of one decision: its lists come from the informer, its writes wait until it is certain that those lists
 * were current, and what another controller serves is hidden.
 */
export function forDecision<D extends Pick<ConnectedDeps, "kubernetes" | "store">>(deps: D, { list, prove }: Readings) {
  const { kubernetes, store } = checkedWrites({ kubernetes: { ...deps.kubernetes, list }, store: deps.store }, prove);
  return { ...deps, kubernetes: managedObjects(kubernetes), store };
}
