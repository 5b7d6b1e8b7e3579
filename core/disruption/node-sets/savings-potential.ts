import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import { totalCost } from "../prices/cost.ts";
import type { DisruptionSettings } from "../settings.ts";

/**
 * A candidate with the most that its removal could save, USD per hour: its cost, less the shadow prices of its pods,
 * which are what room for them costs on the cheapest new nodes.
 */
export interface SavingsPotential {
  readonly candidate: Candidate;
  readonly potential: number;
}

/**
 * What a search for a set of nodes works with. A search leaves the trial cluster as it was.
 *
 *     improveNodeSet(problem, bestDeletableSet(problem))[0]?.net;
 */
export interface NodeSetProblem {
  readonly trial: ConsolidationTrial;
  /** The candidates, highest savings ratio first. */
  readonly potentials: readonly SavingsPotential[];
  /** Budgets of the reason Underutilized, by NodePool name. */
  readonly budgets: ReadonlyMap<string, PoolBudget>;
  readonly settings: DisruptionSettings;
}

/** Savings potential per disruption cost: Karpenter's savings ratio, with the potential in place of the price. */
export function savingsRatio({ candidate, potential }: SavingsPotential): number {
  return potential / candidate.disruptionCost;
}

/** The candidates with their savings potential, highest savings ratio first; of equal ratios the node name decides. */
export function bySavingsRatio(candidates: readonly Candidate[], { worthOf }: ConsolidationTrial): SavingsPotential[] {
  return candidates
    .map((candidate): SavingsPotential => ({ candidate, potential: totalCost([candidate]) - worthOf(candidate.moving) }))
    .sort((a, b) => savingsRatio(b) - savingsRatio(a) || (a.candidate.node < b.candidate.node ? -1 : 1));
}
