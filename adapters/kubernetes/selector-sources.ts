import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { SelectorSources } from "#core/scheduling/rules/default-constraints.ts";

/**
 * The objects that the selectors of default topology spread constraints are derived from. Read only for clusters that
 * have such constraints, because the lists are long.
 */
export async function readSelectorSources(kubernetes: Pick<Kubernetes, "list">): Promise<SelectorSources> {
  const [services, replicationControllers, replicaSets, statefulSets] = await Promise.all([
    kubernetes.list("Service"),
    kubernetes.list("ReplicationController"),
    kubernetes.list("ReplicaSet"),
    kubernetes.list("StatefulSet"),
  ]);
  return { services, replicationControllers, replicaSets, statefulSets };
}
