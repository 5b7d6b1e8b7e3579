import type { Plan } from "../../model/plan.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Effort } from "../../scheduling/search.ts";

export interface SimulateOptions {
  /** Names of nodes that are gone in this trial. */
  readonly excludeNodes: ReadonlySet<string>;
  /** Bound pods that must find a place, beside all that a plan looks at anyway. */
  readonly extraPods: readonly Pod[];
  /** A disruption may fall back to unreserved capacity. */
  readonly reservedMode: "fallback";
  /** Nodes that running pods may not be moved to: their consolidateAfter has not passed. */
  readonly settling: ReadonlySet<string>;
  /** What a new node counts as beside its instance, USD per hour. */
  readonly nodeHour?: number;
  /** How long to look for a cheap plan. Default "quick". */
  readonly effort?: Effort;
}

/** The scheduler: what would happen to all pods without these nodes. */
export type Simulate = (snapshot: Snapshot, options: SimulateOptions) => Plan;
