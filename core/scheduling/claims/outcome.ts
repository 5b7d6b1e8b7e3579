import type { RequirementSet } from "../tables/requirement-sets.ts";

/** What a claim becomes when it takes one more pod. */
export interface ClaimOutcome {
  /** Requirements of the claim with the pod. */
  readonly set: RequirementSet;
  /** USD per hour of the cheapest type that is left, surplus credits included. */
  readonly price: number;
  /** Ids of the capacity reservations that the claim would hold. */
  readonly reservations: readonly string[];
}

/**
 * Why a claim refuses a pod: "never" lasts for the whole attempt, "topology" may change when other pods are placed,
 * "reserved" means that other claims hold the reservations that suit the pod.
 */
export type Refusal = "never" | "topology" | "reserved";
