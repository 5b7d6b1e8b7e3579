import { PRICE_TOLERANCE } from "../../model/prices.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, byPricePerDisruptionCost, type Candidate } from "../cluster/candidate.ts";
import {
  type ConsolidationContext,
  type ConsolidationOutcome,
  consolidate,
  isConsolidationCandidate,
} from "../consolidation/consolidation.ts";
import type { Move } from "../consolidation/cost-saved.ts";
import type { Decision } from "../consolidation/decision.ts";
import { withoutSameType } from "../consolidation/replacement.ts";
import { savingsOf } from "../prices/savings.ts";

/**
 * Karpenter's cap of its search; the bisection counts from one node more, so that 101 nodes can be removed together.
 */
const MAX_NODES = 100;

/** A prefix that can be removed. */
interface Found extends Move {
  readonly candidates: readonly Candidate[];
  /** USD per hour. */
  readonly savings: number;
}

/**
 * Bisects for the longest prefix that can be removed together, then tries the neighbours of the best prefix as long as
 * they save more, and returns the prefix that saves most. Karpenter takes the longest, even where its replacement costs
 * more than the additional nodes
 * (karpenter: pkg/controllers/disruption/multinodeconsolidation.go, MultiNodeConsolidation.firstNConsolidationOption).
 */
function bestPrefix(
  candidates: readonly Candidate[],
  attempt: (batch: readonly Candidate[]) => ConsolidationOutcome,
  outOfTime: () => boolean,
): Found | undefined {
  const longest = Math.min(MAX_NODES + 1, candidates.length);
  const tried = new Map<number, Found | undefined>();
  let best: Found | undefined;
  const attemptPrefix = (length: number): Found | undefined => {
    if (tried.has(length)) return tried.get(length);
    const batch = candidates.slice(0, length);
    const outcome = attempt(batch);
    const found =
      outcome.decision === "none"
        ? undefined
        : {
            candidates: batch,
            replacements: outcome.replacements,
            destinations: outcome.destinations,
            savings: savingsOf(batch, outcome.replacements),
          };
    tried.set(length, found);
    if (found && (!best || found.savings > best.savings + PRICE_TOLERANCE)) best = found;
    return found;
  };
  let low = 2;
  let high = longest;
  while (low <= high && !outOfTime()) {
    const middle = (low + high) >> 1;
    if (attemptPrefix(middle)) low = middle + 1;
    else high = middle - 1;
  }
  for (const step of [1, -1]) {
    for (let from: Found | undefined; best && best !== from && !outOfTime(); ) {
      from = best;
      const length = best.candidates.length + step;
      if (length >= 2 && length <= longest) attemptPrefix(length);
    }
  }
  return best;
}

/**
 * Karpenter's MultiNodeConsolidation: two or more nodes are deleted, or replaced by one, along the order of the savings
 * ratio (karpenter: pkg/controllers/disruption/multinodeconsolidation.go, MultiNodeConsolidation.ComputeCommands).
 */
export function multiNode(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  outOfTime: () => boolean = () => false,
): Decision {
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  const eligible = candidates.filter((candidate) => isConsolidationCandidate(candidate, context.view.now)).sort(byPricePerDisruptionCost);
  const withinBudget = eligible.filter((candidate) => {
    const nodePool = candidate.nodePool.metadata.name;
    if (budget.take(nodePool)) return true;
    blocked.push(budgetSpent(candidate, "Underutilized"));
    return false;
  });
  const attempt = (batch: readonly Candidate[]): ConsolidationOutcome =>
    consolidate(context, batch, { narrow: (replacement) => withoutSameType(replacement, batch) });
  const found = bestPrefix(withinBudget, attempt, outOfTime);
  return { ...(found ? { found } : {}), blocked, eligible: eligible.length };
}
