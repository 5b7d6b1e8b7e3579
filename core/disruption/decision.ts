import type { PlannedNodeClaim } from "../model/plan.ts";
import type { CommandRecord } from "../model/record.ts";
import type { BlockedNode } from "./blocked.ts";
import type { Candidate } from "./candidate.ts";

/** How nodes are chosen; expiration chooses nothing, the lifecycle does it when its time comes. */
export type Method = Exclude<CommandRecord["method"], "expiration">;

/** What a method found: nodes to take away together, with what comes in their place; or none, and why. */
export interface Decision {
  readonly found?: { readonly candidates: readonly Candidate[]; readonly replacements: readonly PlannedNodeClaim[] };
  readonly blocked: readonly BlockedNode[];
  /** How many nodes the method looked at. */
  readonly eligible: number;
  /** Pools that it had no time for, when it ran out of time. */
  readonly unseenPools?: readonly string[];
}
