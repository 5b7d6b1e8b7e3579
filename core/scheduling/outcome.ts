import type { Bitset } from "./bitset.ts";
import type { RequirementSet } from "./requirement-sets.ts";

/** What a claim becomes when it takes one more pod. */
export interface Outcome {
  readonly set: RequirementSet;
  readonly types: Bitset;
  readonly reservations: readonly string[];
  /** USD per hour; filled in when asked for. */
  price?: number;
}

/** Why a claim does not take a pod: for good, as things lie, or because the reservations that suit the pod are taken. */
export type Refusal = "never" | "topology" | "reserved";

/** What a claim alone says to a pod: the set that both make, and the types that agree and have room. */
export interface Fit {
  readonly set: RequirementSet;
  readonly types: Bitset;
}

/** An answer to remember, with what it holds for. */
export interface Answer {
  /** Number of pods that the claim had. */
  readonly pods: number;
  /** State of what lies around it: topology and reservations. */
  readonly around: number;
  readonly base: Fit | undefined;
  readonly answer: Outcome | Refusal;
}
