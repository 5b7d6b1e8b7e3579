import { podKey } from "../../pods/predicates.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, byPricePerDisruptionCost, type Candidate } from "../cluster/candidate.ts";
import { type ConsolidationContext, consolidate, isConsolidationCandidate } from "../consolidation/consolidation.ts";
import type { Decision } from "../consolidation/decision.ts";
import { MAX_REPLACEMENTS } from "../node-sets/set-trials.ts";
import { totalCost } from "../prices/cost.ts";

/**
 * The candidates, one of each NodePool in turn, so that a large pool does not delay the others; `unseenPools` come
 * first (karpenter: pkg/controllers/disruption/singlenodeconsolidation.go, SingleNodeConsolidation.shuffleCandidates).
 */
export function inTurns(candidates: readonly Candidate[], unseenPools: readonly string[] = []): readonly Candidate[] {
  const byPool = new Map<string, Candidate[]>(unseenPools.map((pool) => [pool, []]));
  for (const candidate of candidates) {
    const pool = candidate.nodePool.metadata.name;
    const group = byPool.get(pool);
    if (group) group.push(candidate);
    else byPool.set(pool, [candidate]);
  }
  const turns: Candidate[] = [];
  for (let turn = 0; turns.length < candidates.length; turn++) {
    for (const group of byPool.values()) {
      const candidate = group[turn];
      if (candidate) turns.push(candidate);
    }
  }
  return turns;
}

/** Why the node cannot be removed, where the trial cluster shows it; saves a simulation. */
function ruledOutBy(candidate: Candidate, { trialCluster }: ConsolidationTrial): Blocked | undefined {
  const { node } = candidate;
  const { unplaced, newNodes, price, cost } = trialCluster.costOfRemoving([node]);
  if (unplaced.length > 0) {
    return {
      reason: "PodsUnplaced",
      errors: unplaced.map((pod) => [podKey(pod), "no other node takes it, nor a new one of any NodePool"]),
    };
  }
  const { pricePerHour, isPaidFor } = candidate;
  if (price >= pricePerHour + candidate.surplusPerHour)
    return { reason: "NotCheaper", needs: price, costs: pricePerHour, ...(isPaidFor && { isPaidFor }) };
  return cost < totalCost([candidate]) ? undefined : { reason: "SeveralReplacements", count: newNodes };
}

/**
 * Karpenter's SingleNodeConsolidation: the first node that can be deleted or that one cheaper node can replace. With a
 * trial cluster, several nodes that cost less together may replace it
 * (karpenter: pkg/controllers/disruption/singlenodeconsolidation.go, SingleNodeConsolidation.ComputeCommands).
 */
export function singleNode(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  options: { readonly unseenPools?: readonly string[]; readonly outOfTime?: () => boolean } = {},
): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  const eligible = candidates.filter((candidate) => isConsolidationCandidate(candidate, context.view.now)).sort(byPricePerDisruptionCost);
  const unseen = new Set(eligible.map(({ nodePool }) => nodePool.metadata.name));
  for (const candidate of inTurns(eligible, options.unseenPools)) {
    if (options.outOfTime?.()) return { blocked, eligible: eligible.length, unseenPools: [...unseen] };
    const { node, nodeClaim } = candidate;
    const nodePool = candidate.nodePool.metadata.name;
    unseen.delete(nodePool);
    if (budget.left(nodePool) <= 0) {
      blocked.push(budgetSpent(candidate, "Underutilized"));
      continue;
    }
    const ruledOut = context.trial && ruledOutBy(candidate, context.trial());
    if (ruledOut) {
      blocked.push({ node, nodeClaim, blocked: ruledOut });
      continue;
    }
    const outcome = consolidate(context, [candidate], { mostReplacements: context.trial ? MAX_REPLACEMENTS : 1 });
    if (outcome.decision === "none") {
      blocked.push({ node, nodeClaim, blocked: outcome.blocked });
      continue;
    }
    const { replacements, destinations } = outcome;
    return { found: { candidates: [candidate], replacements, destinations }, blocked, eligible: eligible.length };
  }
  return { blocked, eligible: eligible.length, unseenPools: [] };
}
