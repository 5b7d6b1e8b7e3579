// Methods choose candidates for one command: Emptiness, StaticDrift, Drift and SingleNodeConsolidation stand here,
// MultiNodeConsolidation and findNodeSet, which replaces it, in node-sets. In come candidates and budgets, out comes a
// Decision. Commands, events and metrics are not known here.

import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, byPricePerDisruptionCost, type Candidate, isEmpty } from "../cluster/candidate.ts";
import { consolidateAfterMs } from "../cluster/consolidate-after.ts";
import type { Decision } from "../consolidation/decision.ts";

/**
 * Why Emptiness does not take an empty node; undefined when it may
 * (karpenter: pkg/controllers/disruption/emptiness.go, Emptiness.ShouldDisrupt).
 */
export function emptinessBlock(candidate: Candidate, now: number): Blocked | undefined {
  const { nodePool } = candidate;
  const { name } = nodePool.metadata;
  if (nodePool.spec.replicas != null) return { reason: "StaticNodePool", nodePool: name };
  if (candidate.heldByPod) return candidate.heldByPod;
  if (consolidateAfterMs(nodePool) === Number.POSITIVE_INFINITY) return { reason: "ConsolidationDisabled", nodePool: name };
  if (candidate.consolidatableFrom > now) return { reason: "NotConsolidatable", until: candidate.consolidatableFrom };
  return undefined;
}

/** Whether the node is empty and its NodePool and pods allow to delete it at `now` (ms). */
export function isEmptinessCandidate(candidate: Candidate, now: number): boolean {
  return isEmpty(candidate) && emptinessBlock(candidate, now) === undefined;
}

/** Nodes of one command at most, because one item of the table holds it; the next pass deletes more. */
const MAX_EMPTY_NODES = 2_000;

/**
 * Karpenter's Emptiness: all empty nodes that the budgets allow, deleted together without a simulation
 * (karpenter: pkg/controllers/disruption/emptiness.go, Emptiness.ComputeCommands).
 */
export function emptiness(candidates: readonly Candidate[], budgets: ReadonlyMap<string, PoolBudget>, now: number): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  const eligible = candidates.filter((candidate) => isEmptinessCandidate(candidate, now)).sort(byPricePerDisruptionCost);
  const chosen = eligible.filter((candidate) => {
    const nodePool = candidate.nodePool.metadata.name;
    if (budget.take(nodePool)) return true;
    blocked.push(budgetSpent(candidate, "Empty"));
    return false;
  });
  const found = chosen.slice(0, MAX_EMPTY_NODES);
  return { ...(found.length > 0 ? { found: { candidates: found, replacements: [] } } : {}), blocked, eligible: eligible.length };
}
