import type { RequirementSet } from "../tables/requirement-sets.ts";

/** What a claim becomes when it takes one more pod. */
export interface Outcome {
  readonly set: RequirementSet;
  /** USD per hour of the cheapest type that is left. */
  readonly price: number;
  readonly reservations: readonly string[];
}

/** Why a claim does not take a pod: for good, as things lie, or because the reservations that suit the pod are taken. */
export type Refusal = "never" | "topology" | "reserved";
