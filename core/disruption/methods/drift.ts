import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { podKey } from "../../pods/predicates.ts";
import { isStatic } from "../../static-capacity/claim.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView } from "../cluster/view.ts";
import type { Decision } from "../consolidation/decision.ts";
import { type Trial, tryRemoval } from "../consolidation/simulate.ts";

function driftedSince({ machine }: Candidate): number {
  return fromRfc3339(conditionOf(machine.claim.status?.conditions, "Drifted")?.lastTransitionTime) || 0;
}

/** Pods that hold a node count no more once its claim says by when they must have gone (disruption.md §2, class "eventual"). */
function isHeld({ machine, heldByPod }: Candidate): boolean {
  return heldByPod !== undefined && !machine.claim.spec.terminationGracePeriod;
}

/** Drifted and free to go. */
export function isDriftCandidate(candidate: Candidate): boolean {
  return isTrue(candidate.machine.claim.status?.conditions, "Drifted") && !isHeld(candidate);
}

/** Nodes without pods first, then those that drifted first; names settle the rest. */
export function byUrgency(a: Candidate, b: Candidate): number {
  const full = (candidate: Candidate): number => (candidate.reschedulable.length > 0 ? 1 : 0);
  return full(a) - full(b) || driftedSince(a) - driftedSince(b) || (a.node < b.node ? -1 : 1);
}

/** The machines that the candidate's own pods need. What else waits for room is the planner's to buy for: both would buy for the same pods. */
function replacementsFor({ moving }: Candidate, { newNodeClaims }: Trial): readonly PlannedNodeClaim[] {
  const own = new Set(moving.map(podKey));
  return newNodeClaims.filter(({ pods }) => pods.some((pod) => own.has(pod)));
}

/** The first drifted node whose pods all find a place, with as many new nodes as that takes, at any price (disruption.md §6). */
export function drift(
  view: ClusterView,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  simulate: Simulate,
  outOfTime: () => boolean = () => false,
): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  // Nodes of static pools are replaced one for one (static-drift.ts).
  const eligible = candidates.filter((candidate) => isDriftCandidate(candidate) && !isStatic(candidate.nodePool)).sort(byUrgency);
  for (const candidate of eligible) {
    if (outOfTime()) break;
    const { node, nodeClaim } = candidate;
    const nodePool = candidate.nodePool.metadata.name;
    if (!budget.take(nodePool)) {
      blocked.push({ node, nodeClaim, blocked: { reason: "BudgetSpent", nodePool, disruption: "Drifted" } });
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
    blocked.push({ node, nodeClaim, blocked: { reason: "PodsUnplaced", errors: trial.unplaced } });
  }
  return { blocked, eligible: eligible.length };
}
