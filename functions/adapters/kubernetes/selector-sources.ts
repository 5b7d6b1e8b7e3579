import type { Kubernetes } from "../../../core/ports/kubernetes.ts";
import type { SelectorSources } from "../../../core/scheduling/rules/default-constraints.ts";

/** What the selectors of default topology spread constraints are deduced from. Asked only of clusters that have such constraints: it is long. */
export async function readSelectorSources(kubernetes: Pick<Kubernetes, "list">): Promise<SelectorSources> {
  const [services, replicationControllers, replicaSets, statefulSets] = await Promise.all([
    kubernetes.list("Service"),
    kubernetes.list("ReplicationController"),
    kubernetes.list("ReplicaSet"),
    kubernetes.list("StatefulSet"),
  ]);
  return { services, replicationControllers, replicaSets, statefulSets };
}
