import { broken, type Violation, violationText } from "../lib/invariant.ts";
import type { Plan, PlannedNodeClaim } from "../model/plan.ts";

/**
 * The plan without what breaks a rule: a pod has a place only where it is placed first, and a NodeClaim that cannot be
 * launched is left out. Pods without a place say so in `podErrors`.
 */
export function soundPlan(plan: Plan): Plan {
  const placed = new Set<string>();
  const podErrors: Record<string, string> = {};
  const existingNodes = plan.existingNodes.map((node) => ({ ...node, pods: placedOnce(node.pods, placed) }));
  const newNodeClaims = plan.newNodeClaims.flatMap((claim) => {
    const violation = claimViolation(claim);
    if (violation === undefined) return [{ ...claim, pods: placedOnce(claim.pods, placed) }];
    for (const pod of claim.pods) podErrors[pod] = violationText(violation);
    return [];
  });
  return { ...plan, existingNodes, newNodeClaims, podErrors: { ...plan.podErrors, ...podErrors } };
}

/** Why a plan is not sound; undefined when it is, which is cheap to see. */
export function planViolation({ existingNodes, newNodeClaims }: Plan): Violation | undefined {
  const placed = new Set<string>();
  for (const { pods } of [...existingNodes, ...newNodeClaims]) {
    for (const pod of pods) {
      if (placed.has(pod)) return broken("a plan places each pod once", `${pod} has two places`);
      placed.add(pod);
    }
  }
  for (const claim of newNodeClaims) {
    const violation = claimViolation(claim);
    if (violation) return violation;
  }
  return undefined;
}

function claimViolation({ nodePool, instanceTypes, pricePerHour }: PlannedNodeClaim): Violation | undefined {
  if (instanceTypes.length === 0) return broken("a planned NodeClaim names an instance type", `one of NodePool ${nodePool} names none`);
  if (!Number.isFinite(pricePerHour) || pricePerHour < 0)
    return broken("the price of a planned NodeClaim is finite and not negative", `one of NodePool ${nodePool} costs ${pricePerHour}`);
  return undefined;
}

function placedOnce(pods: readonly string[], placed: Set<string>): readonly string[] {
  return pods.filter((pod) => {
    const isFirst = !placed.has(pod);
    placed.add(pod);
    return isFirst;
  });
}
