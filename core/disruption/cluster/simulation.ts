import type { Plan } from "../../model/plan.ts";
import type { Pod } from "../../model/pod.ts";
import type { CostSettings } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Effort } from "../../scheduling/search.ts";

/** What a simulated schedule assumes. */
export interface SimulateOptions extends CostSettings {
  /** Names of nodes that do not exist in this simulation. */
  readonly excludeNodes: ReadonlySet<string>;
  /** Bound pods to schedule, in addition to pending pods and the pods of nodes that are being removed. */
  readonly extraPods: readonly Pod[];
  /** Whether a replacement may fall back to capacity outside capacity reservations. */
  readonly reservedMode: "fallback" | "strict";
  /** Names of nodes that running pods may not be moved to, because their consolidateAfter has not passed. */
  readonly settling: ReadonlySet<string>;
  /** How much the scheduler searches for a cheap plan. Default "quick". */
  readonly effort?: Effort;
}

/**
 * The scheduler as disruption uses it: the plan for all pods without some nodes
 * (karpenter: pkg/controllers/disruption/helpers.go, SimulateScheduling).
 */
export type Simulate = (snapshot: Snapshot, options: SimulateOptions) => Plan;
