import type { Pod } from "../model/pod.ts";

const DISRUPTION_COST = "karpenter.sh/disruption-cost";
const POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** What a user says of the pod; the cost of its deletion counts where that of its disruption is not given. */
function statedCost({ metadata: { annotations = {} } }: Pod): number {
  const text = annotations[DISRUPTION_COST] ?? annotations[POD_DELETION_COST];
  // A value that does not parse counts as 0, as for the ReplicaSet controller.
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

/**
 * The cost of an eviction, without a unit: 1 for an ordinary pod, between −10 and 10
 * (karpenter: pkg/utils/disruption/disruption.go, EvictionCost).
 */
export function evictionCost(pod: Pod): number {
  const cost = 1 + statedCost(pod) / 2 ** 27 + (pod.spec.priority ?? 0) / 2 ** 25;
  return Math.min(10, Math.max(-10, cost));
}

/** The eviction costs of some pods together, without a unit; a negative one counts as 0. */
export function evictionCosts(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 0);
}

/**
 * What disrupting a node with these reschedulable pods costs, without a unit: 1 for the node, plus each pod's eviction
 * cost where it is positive (karpenter: pkg/controllers/disruption/types.go, computeRescheduleDisruptionCost).
 */
export function rescheduleDisruptionCost(reschedulable: readonly Pod[]): number {
  return 1 + evictionCosts(reschedulable);
}
