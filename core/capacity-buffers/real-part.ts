import type { Plan } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import { podKey } from "../pods/predicates.ts";

/**
 * A plan limited to pods that exist, for logs, events and metrics. NodeClaims only for virtual pods stay, without pods.
 */
export function realPart(plan: Plan, virtualPods: readonly Pod[]): Plan {
  if (virtualPods.length === 0) return plan;
  const imagined = new Set(virtualPods.map(podKey));
  const real = (pods: readonly string[]): readonly string[] => pods.filter((pod) => !imagined.has(pod));
  return {
    newNodeClaims: plan.newNodeClaims.map((claim) => ({ ...claim, pods: real(claim.pods) })),
    existingNodes: plan.existingNodes.map((node) => ({ ...node, pods: real(node.pods) })).filter(({ pods }) => pods.length > 0),
    podErrors: Object.fromEntries(Object.entries(plan.podErrors).filter(([pod]) => !imagined.has(pod))),
  };
}
