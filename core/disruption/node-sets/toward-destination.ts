import { MIN_SAVINGS } from "../../model/prices.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { ConsolidationContext } from "../consolidation/consolidation.ts";
import { netSavings } from "../consolidation/payback.ts";
import { CommandSize } from "./deletable-set.ts";
import { destinationOf } from "./destination.ts";
import { bySavingsRatio, type SavingsPotential } from "./savings-potential.ts";
import { MAX_REPLACEMENTS, MOVE_PENALTY, SetTrials } from "./set-trials.ts";

/** Simulations of one step: the whole set, and half of the last one each time. */
const TRIALS = 4;

/** A step toward the destination. */
export interface Step {
  /** The sets that were simulated; the best of them, if there is one, is the step. */
  readonly trials: SetTrials;
  /** Whether the step removes all nodes that go, so that it arrives. */
  readonly arrives: boolean;
}

/**
 * The next step toward the destination: as many of the nodes that go as the budgets allow, the most savings first: each
 * node takes as much of a budget as the others, whatever it saves.
 * Their pods move only to nodes that stay and to new nodes, so that no later step moves them again. A set that needs
 * too many replacements is halved; one that cannot be removed for another reason shows that the destination is out of
 * reach.
 */
export function stepTowardDestination(
  context: ConsolidationContext,
  eligible: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  trial: ConsolidationTrial,
  outOfTime: () => boolean,
): Step {
  const { go, potential } = (outOfTime() ? undefined : destinationOf(context, eligible, trial)) ?? { go: [], potential: 0 };
  const trials = new SetTrials({ ...context, closed: new Set(go.map(({ node }) => node)) }, TRIALS);
  if (netSavings(context.settings, go, potential) < MIN_SAVINGS) return { trials, arrives: false };
  const budget = allowance(budgets);
  const size = new CommandSize();
  let set: readonly Candidate[] = bySavingsRatio(go, trial)
    .sort((a, b) => worth(b) - worth(a))
    .map(({ candidate }) => candidate)
    .filter(({ nodePool }) => budget.take(nodePool.metadata.name))
    .filter((candidate) => size.take(candidate));
  while (set.length > 0 && !trials.isExhausted && !outOfTime()) {
    const outcome = trials.try(set, MAX_REPLACEMENTS, "full");
    if ("net" in outcome || outcome.reason !== "SeveralReplacements") break;
    set = set.slice(0, set.length >> 1);
  }
  return { trials, arrives: set.length === go.length };
}

/** What removing a node saves, less what its pods' moves count, USD per hour. */
function worth({ candidate, potential }: SavingsPotential): number {
  return potential - MOVE_PENALTY * candidate.moving.length;
}
