import type { DisruptionReason } from "../../model/command-record.ts";
import type { CommonFault } from "../../repair/health.ts";

/**
 * Why a node is not disrupted. A value, not a text: reports/wording.ts words it, functions/disruption publishes it as
 * an event and `karpenter-serverless consolidate --explain` prints it. In the order of the checks: the rules of the
 * cluster first, then what a method found.
 *
 *     { reason: "Pdb", pod: "default/web-0", budgets: ["default/web"] }
 *     { reason: "NotCheaper", needs: 0.31, costs: 0.28 }
 */
export type Blocked =
  | { readonly reason: "InCommand" }
  /** Another command moves pods to the node. */
  | { readonly reason: "Destination" }
  | { readonly reason: "NoNode" }
  | { readonly reason: "NotInitialized" }
  | { readonly reason: "Deleting" }
  | { readonly reason: "Nominated"; readonly until: number }
  | { readonly reason: "NodeDoNotDisrupt" }
  | { readonly reason: "Rebooting" }
  | { readonly reason: "DoNotRepair" }
  /** More than a fifth of the NodePool's nodes are unhealthy. */
  | { readonly reason: "TooManyUnhealthy"; readonly nodePool: string }
  /** Many nodes of the cluster got the same fault within an hour. */
  | ({ readonly reason: "CommonFault" } & CommonFault)
  /** A static NodePool has no room for a replacement under limits.nodes. */
  | { readonly reason: "StaticAtLimit"; readonly nodePool: string }
  /** `problem`: which object cannot be read. */
  | { readonly reason: "Unreadable"; readonly problem: string }
  /** The API server has refused a NodeClaim for the pod. */
  | { readonly reason: "NodeClaimRefused"; readonly pod: string; readonly problem: string }
  | { readonly reason: "NodeLabelMissing"; readonly label: string }
  | { readonly reason: "NodePoolNotFound"; readonly nodePool: string }
  /** `until` in ms since the epoch; Infinity when the annotation has no end. */
  | { readonly reason: "PodDoNotDisrupt"; readonly pod: string; readonly until: number }
  | { readonly reason: "Pdb"; readonly pod: string; readonly budgets: readonly string[] }
  | { readonly reason: "SeveralPdbs"; readonly pod: string; readonly budgets: readonly string[] }
  | { readonly reason: "StaticNodePool"; readonly nodePool: string }
  | { readonly reason: "InstanceTypeUnknown"; readonly instanceType: string }
  | { readonly reason: "LabelMissing"; readonly label: string }
  | { readonly reason: "ConsolidationDisabled"; readonly nodePool: string }
  | { readonly reason: "WhenEmptyOnly"; readonly nodePool: string }
  /** No pod has to move, but the node provides the capacity of a CapacityBuffer. */
  | { readonly reason: "BufferPods"; readonly node: string }
  /** consolidateAfter has not passed; `until` in ms since the epoch, Infinity when time alone does not end it. */
  | { readonly reason: "NotConsolidatable"; readonly until: number }
  | { readonly reason: "BudgetSpent"; readonly nodePool: string; readonly disruption: DisruptionReason }
  /** The cluster's disruption rate is used up: `limit` nodes in `windowMs`. `until` in ms since the epoch. */
  | { readonly reason: "RateReached"; readonly limit: number; readonly windowMs: number; readonly until: number }
  /** Pods that moved for this reason are not as well as before; `until` in ms since the epoch, where it is known. */
  | {
      readonly reason: "CircuitOpen";
      readonly nodePool: string;
      readonly disruption: DisruptionReason;
      readonly why: string;
      readonly until: number;
    }
  | { readonly reason: "PodsUnplaced"; readonly errors: readonly (readonly [pod: string, error: string])[] }
  | { readonly reason: "SeveralReplacements"; readonly count: number }
  /**
   * USD per hour, where known: `needs` is the least price of new nodes for the pods, `costs` the price of the
   * candidates. `isPaidFor`: commitments pay for all of them.
   */
  | { readonly reason: "NotCheaper"; readonly needs?: number; readonly costs?: number; readonly isPaidFor?: boolean }
  /** USD per hour: elsewhere its pods would cost `needs`, mostly surplus credits; the candidates cost `costs`. */
  | { readonly reason: "SurplusCredits"; readonly needs: number; readonly costs: number }
  /** The savings of `hours` are less than the disruption cost, `moveCost` in USD. */
  | { readonly reason: "NotRepaid"; readonly savesPerHour: number; readonly hours: number; readonly moveCost: number }
  /** The last consolidation was to save so much and did not; `until` in ms since the epoch. */
  | { readonly reason: "SavingsMissed"; readonly savesPerHour: number; readonly until: number }
  | { readonly reason: "MinValues"; readonly key: string; readonly wanted: number; readonly left: number }
  | { readonly reason: "SpotToSpotDisabled" }
  | { readonly reason: "SpotToSpotTooFew"; readonly count: number }
  | { readonly reason: "NotWorthIt"; readonly nodePool: string; readonly score: number };

/** A node that is not disrupted, with the reason; `node` is empty for a NodeClaim without a node. */
export interface BlockedNode {
  readonly node: string;
  readonly nodeClaim: string;
  readonly blocked: Blocked;
}
