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
