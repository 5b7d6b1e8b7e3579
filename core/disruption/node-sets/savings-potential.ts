import type { Sketch } from "../../scheduling/make-trial.ts";
import type { Candidate } from "../cluster/candidate.ts";

/** A candidate with what could be saved on it at best: its price, less what room for its pods is worth. USD per hour. */
export interface Wasteful {
  readonly candidate: Candidate;
  readonly waste: number;
}

/** What is wasted for each pod that would have to move. */
export function perTrouble({ candidate, waste }: Wasteful): number {
  return waste / candidate.disruptionCost;
}

/** Candidates by what is wasted on them for each pod that would have to move, the most first. */
export function wastefulFirst(candidates: readonly Candidate[], { worthOf }: Sketch): readonly Wasteful[] {
  return candidates
    .map((candidate): Wasteful => ({ candidate, waste: candidate.pricePerHour - worthOf(candidate.moving) }))
    .sort((a, b) => perTrouble(b) - perTrouble(a) || (a.candidate.node < b.candidate.node ? -1 : 1));
}
