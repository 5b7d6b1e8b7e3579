import { conditionOf } from "../model/conditions.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isActive, isPending, isProvisionable } from "../pods/predicates.ts";

/**
 * The snapshot with the pods that kube-scheduler will give up in a moment counted as unschedulable: pods that it has
 * not tried yet and whose controller owns a pod that it has given up. kube-scheduler tries one pod after another, and a
 * plan for the first of many equal pods would buy nodes that are too small for all of them. A pod that has room on a
 * node after all is placed there by the plan too, and costs nothing.
 */
export function withUntriedPods<S extends Pick<Snapshot, "pods">>(snapshot: S): S {
  const owners = new Set(snapshot.pods.filter(isProvisionable).flatMap((pod) => ownerOf(pod) ?? []));
  const isLeft = (pod: Pod): boolean => owners.has(ownerOf(pod) ?? "") && isUntried(pod);
  if (!snapshot.pods.some(isLeft)) return snapshot;
  return { ...snapshot, pods: snapshot.pods.map((pod) => (isLeft(pod) ? givenUp(pod) : pod)) };
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** A pod with scheduling gates has the condition PodScheduled from its creation on. */
function isUntried(pod: Pod): boolean {
  return isPending(pod) && isActive(pod) && conditionOf(pod.status?.conditions, "PodScheduled") === undefined;
}

function givenUp(pod: Pod): Pod {
  const { creationTimestamp: at } = pod.metadata;
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", ...(at && { lastTransitionTime: at }) } as const;
  return { ...pod, status: { ...pod.status, conditions: [...(pod.status?.conditions ?? []), condition] } };
}
