import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { byPricePerDisruptionCost, type Candidate, isEmpty } from "../cluster/candidate.ts";
import { consolidateAfterMs } from "../cluster/consolidate-after.ts";
import type { Decision } from "../consolidation/decision.ts";

/** Why an empty node stays (disruption.md §4). */
export function emptinessBlock(candidate: Candidate, now: number): Blocked | undefined {
  const { nodePool } = candidate;
  const { name } = nodePool.metadata;
  if (nodePool.spec.replicas != null) return { reason: "StaticNodePool", nodePool: name };
  if (candidate.heldByPod) return candidate.heldByPod;
  if (consolidateAfterMs(nodePool) === Number.POSITIVE_INFINITY) return { reason: "ConsolidationDisabled", nodePool: name };
  if (candidate.consolidatableFrom > now) return { reason: "NotConsolidatable", until: candidate.consolidatableFrom };
  return undefined;
}

/** Whether the node is empty and nothing in its pool keeps it at `now` (ms). */
export function isEmptinessCandidate(candidate: Candidate, now: number): boolean {
  return isEmpty(candidate) && emptinessBlock(candidate, now) === undefined;
}

/** All empty nodes that the budgets let go, at once and without a trial. */
export function emptiness(candidates: readonly Candidate[], budgets: ReadonlyMap<string, PoolBudget>, now: number): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  const eligible = candidates.filter((candidate) => isEmptinessCandidate(candidate, now)).sort(byPricePerDisruptionCost);
  const going = eligible.filter((candidate) => {
    const nodePool = candidate.nodePool.metadata.name;
    if (budget.take(nodePool)) return true;
    blocked.push({ ...namesOf(candidate), blocked: { reason: "BudgetSpent", nodePool, disruption: "Empty" } });
    return false;
  });
  return { ...(going.length > 0 ? { found: { candidates: going, replacements: [] } } : {}), blocked, eligible: eligible.length };
}

function namesOf({ node, nodeClaim }: Candidate): { readonly node: string; readonly nodeClaim: string } {
  return { node, nodeClaim };
}
