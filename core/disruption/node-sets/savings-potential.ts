import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { Candidate } from "../cluster/candidate.ts";

/**
 * A candidate with the most that its removal could save, USD per hour: its price, less the shadow prices of its pods,
 * which are what room for them costs on the cheapest new nodes.
 */
export interface SavingsPotential {
  readonly candidate: Candidate;
  readonly potential: number;
}

/** Savings potential per disruption cost: Karpenter's savings ratio, with the potential in place of the price. */
export function savingsRatio({ candidate, potential }: SavingsPotential): number {
  return potential / candidate.disruptionCost;
}

/** The candidates with their savings potential, highest savings ratio first; of equal ratios the node name decides. */
export function bySavingsRatio(candidates: readonly Candidate[], { worthOf }: ConsolidationTrial): readonly SavingsPotential[] {
  return candidates
    .map((candidate): SavingsPotential => ({ candidate, potential: candidate.pricePerHour - worthOf(candidate.moving) }))
    .sort((a, b) => savingsRatio(b) - savingsRatio(a) || (a.candidate.node < b.candidate.node ? -1 : 1));
}
