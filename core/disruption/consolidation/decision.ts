import type { CommandRecord, DisruptionReason } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { Destinations } from "./simulate.ts";

/** How nodes are chosen; expiration chooses nothing, the lifecycle does it when its time comes. */
export type Method = Exclude<CommandRecord["method"], "expiration">;

const REASONS: Readonly<Record<Method, DisruptionReason>> = {
  emptiness: "Empty",
  drift: "Drifted",
  multi: "Underutilized",
  single: "Underutilized",
};

/** The reason under which the method's disruptions count against budgets, and the value of the metrics' label `reason`. */
export function reasonOf(method: Method): DisruptionReason {
  return REASONS[method];
}

/** A set of nodes that was thought away, and what came of it. */
export interface Tried {
  readonly nodes: readonly string[];
  /** USD per hour; 0 where it came to nothing. */
  readonly savesPerHour: number;
  /** Pods that would have had to move. */
  readonly podsMoved: number;
  /** Of each node that would have come instead, the cheapest type. */
  readonly replacements: readonly string[];
  readonly verdict: "chosen" | "rejected";
  /** Why it was rejected; undefined when another set was worth more. */
  readonly why?: Blocked;
}

/** What a method found: nodes to take away together, with what comes in their place; or none, and why. */
export interface Decision {
  readonly found?: {
    readonly candidates: readonly Candidate[];
    readonly replacements: readonly PlannedNodeClaim[];
    readonly destinations?: Destinations;
  };
  readonly blocked: readonly BlockedNode[];
  /** What was tried, in that order. */
  readonly tried?: readonly Tried[];
  /** How many nodes the method looked at. */
  readonly eligible: number;
  /** Pools that it had no time for, when it ran out of time. */
  readonly unseenPools?: readonly string[];
}

/** One method's turn. */
export interface Pass {
  readonly method: Method;
  readonly isTimedOut: boolean;
  readonly decision: Decision;
  readonly budgets: ReadonlyMap<string, PoolBudget>;
}
