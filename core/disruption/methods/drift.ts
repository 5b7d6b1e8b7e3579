import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { podKey } from "../../pods/predicates.ts";
import { isStatic } from "../../static-capacity/claim.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, type Candidate } from "../cluster/candidate.ts";
import type { ConsolidationContext } from "../consolidation/consolidation.ts";
import type { Decision } from "../consolidation/decision.ts";
import { type RemovalTrial, tryRemoval } from "../consolidation/simulate.ts";
import { tryWithOwnPlace } from "./terminate-first.ts";

/** When (ms) the claim's condition Drifted turned True; 0 when unknown. */
function driftedSince({ machine }: Candidate): number {
  return fromRfc3339(conditionOf(machine.claim.status?.conditions, "Drifted")?.lastTransitionTime) || 0;
}

/**
 * Whether a pod blocks the node. With a terminationGracePeriod none does, because that ends every drain (Karpenter's
 * eventual disruption class).
 */
function isHeld({ machine, heldByPod }: Candidate): boolean {
  return heldByPod !== undefined && !machine.claim.spec.terminationGracePeriod;
}

/** Whether the claim has drifted and no pod blocks its node. */
export function isDriftCandidate(candidate: Candidate): boolean {
  return isTrue(candidate.machine.claim.status?.conditions, "Drifted") && !isHeld(candidate);
}

/** Sorts nodes without reschedulable pods first, then by the time of drift, then by name. */
export function byUrgency(a: Candidate, b: Candidate): number {
  const hasPods = (candidate: Candidate): number => (candidate.reschedulable.length > 0 ? 1 : 0);
  return hasPods(a) - hasPods(b) || driftedSince(a) - driftedSince(b) || (a.node < b.node ? -1 : 1);
}

/**
 * The new nodes that the candidate's own pods need. New nodes for other pending pods are left to provisioning, because
 * both would launch nodes for the same pods.
 */
export function replacementsFor({ moving }: Candidate, { newNodeClaims }: RemovalTrial): readonly PlannedNodeClaim[] {
  const own = new Set(moving.map(podKey));
  return newNodeClaims.filter(({ pods }) => pods.some((pod) => own.has(pod)));
}

/**
 * Karpenter's Drift: the first drifted node of a dynamic NodePool whose pods all schedule elsewhere, with any number of
 * replacements at any price (karpenter: pkg/controllers/disruption/drift.go, Drift.ComputeCommands).
 */
export function drift(
  { view, simulate, settings }: Pick<ConsolidationContext, "view" | "simulate" | "settings">,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  outOfTime: () => boolean = () => false,
): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  // StaticDrift (static-drift.ts) replaces nodes of static pools.
  const eligible = candidates.filter((candidate) => isDriftCandidate(candidate) && !isStatic(candidate.nodePool)).sort(byUrgency);
  for (const candidate of eligible) {
    if (outOfTime()) break;
    const { node, nodeClaim } = candidate;
    const nodePool = candidate.nodePool.metadata.name;
    if (!budget.take(nodePool)) {
      blocked.push(budgetSpent(candidate, "Drifted"));
      continue;
    }
    const trial = tryRemoval(view, [candidate], simulate, { settle: false });
    if (trial.unplaced.length === 0) {
      const { destinations } = trial;
      return {
        found: { candidates: [candidate], replacements: replacementsFor(candidate, trial), destinations },
        blocked,
        eligible: eligible.length,
      };
    }
    const first = settings.terminateFirstDrift ? tryWithOwnPlace(view, candidate, simulate) : undefined;
    if (first) return { found: { candidates: [candidate], ...first }, blocked, eligible: eligible.length };
    blocked.push({ node, nodeClaim, blocked: { reason: "PodsUnplaced", errors: trial.unplaced } });
  }
  return { blocked, eligible: eligible.length };
}
