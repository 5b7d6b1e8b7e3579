import type { CommandRecord, DisruptionReason, RepairOf } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { Destinations } from "./simulate.ts";

/** The methods that choose nodes. Expiration is not one: the lifecycle expires claims by their own expireAfter. */
export type Method = Exclude<CommandRecord["method"], "expiration">;

const REASONS: Readonly<Record<Method, DisruptionReason>> = {
  emptiness: "Empty",
  drift: "Drifted",
  multi: "Underutilized",
  single: "Underutilized",
  sleep: "Asleep",
  repair: "Unhealthy",
};

/**
 * The reason under which the method's disruptions count against budgets, and the value of the metrics' label `reason`.
 */
export function reasonOf(method: Method): DisruptionReason {
  return REASONS[method];
}

/** A set of nodes whose removal was simulated, and the result. `consolidate --explain` prints it. */
export interface Tried {
  readonly nodes: readonly string[];
  /** USD; 0 for a set that cannot be removed. */
  readonly savesPerHour: number;
  /** Pods that would have moved. */
  readonly podsMoved: number;
  /** The cheapest instance type of each replacement. */
  readonly replacements: readonly string[];
  readonly verdict: "chosen" | "rejected";
  /** Why it was rejected; undefined when another set saved more. */
  readonly why?: Blocked;
}

/**
 * What one method decided: candidates to remove together with their replacements, or none; and why other candidates
 * stay. The first method with `found` makes the command of the pass.
 *
 *     { found: { candidates, replacements: [] }, blocked: [], eligible: 2 } // delete both
 */
export interface Decision {
  readonly found?: {
    readonly candidates: readonly Candidate[];
    readonly replacements: readonly PlannedNodeClaim[];
    readonly destinations?: Destinations;
    /** CommandRecord.repair. */
    readonly repair?: RepairOf;
    /** CommandRecord.terminateFirst. */
    readonly terminateFirst?: NonNullable<CommandRecord["terminateFirst"]>;
    /** CommandRecord.onlyDestinations. */
    readonly onlyDestinations?: boolean;
  };
  readonly blocked: readonly BlockedNode[];
  /** Sets whose removal was simulated, in order. */
  readonly tried?: readonly Tried[];
  /** How many candidates the method could choose, before budgets. */
  readonly eligible: number;
  /** NodePools that the method did not reach when its time was up. */
  readonly unseenPools?: readonly string[];
}

/** One method's run in a pass. */
export interface Pass {
  readonly method: Method;
  /** Consolidation only: its time was up before it had tried everything. */
  readonly isTimedOut: boolean;
  readonly decision: Decision;
  /** Budgets of the method's reason, by NodePool name. */
  readonly budgets: ReadonlyMap<string, PoolBudget>;
}
