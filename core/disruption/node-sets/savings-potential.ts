import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { Candidate } from "../cluster/candidate.ts";

/** A candidate with what could be saved on it at best: its price, less what room for its pods is worth. USD per hour. */
export interface SavingsPotential {
  readonly candidate: Candidate;
  readonly potential: number;
}

/** What is wasted for each pod that would have to move. */
export function savingsRatio({ candidate, potential }: SavingsPotential): number {
  return potential / candidate.disruptionCost;
}

/** Candidates by what is wasted on them for each pod that would have to move, the most first. */
export function bySavingsRatio(candidates: readonly Candidate[], { worthOf }: ConsolidationTrial): readonly SavingsPotential[] {
  return candidates
    .map((candidate): SavingsPotential => ({ candidate, potential: candidate.pricePerHour - worthOf(candidate.moving) }))
    .sort((a, b) => savingsRatio(b) - savingsRatio(a) || (a.candidate.node < b.candidate.node ? -1 : 1));
}
