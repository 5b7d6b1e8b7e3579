import type { DisruptionReason } from "../../model/command-record.ts";

/**
 * Why a node stays. The core only says so; wording.ts puts it into words and the shell makes an Event of it.
 * In the order in which they are looked for: standing reasons first, then what a method found out.
 */
export type Blocked =
  | { readonly reason: "InCommand" }
  | { readonly reason: "NoNode" }
  | { readonly reason: "NotInitialized" }
  | { readonly reason: "Deleting" }
  | { readonly reason: "Nominated"; readonly until: number }
  | { readonly reason: "NodeDoNotDisrupt" }
  | { readonly reason: "NodeLabelMissing"; readonly label: string }
  | { readonly reason: "NodePoolNotFound"; readonly nodePool: string }
  /** `until` in ms; Infinity for ever. */
  | { readonly reason: "PodDoNotDisrupt"; readonly pod: string; readonly until: number }
  | { readonly reason: "Pdb"; readonly pod: string; readonly budgets: readonly string[] }
  | { readonly reason: "SeveralPdbs"; readonly pod: string; readonly budgets: readonly string[] }
  | { readonly reason: "StaticNodePool"; readonly nodePool: string }
  | { readonly reason: "InstanceTypeUnknown"; readonly instanceType: string }
  | { readonly reason: "LabelMissing"; readonly label: string }
  | { readonly reason: "ConsolidationDisabled"; readonly nodePool: string }
  | { readonly reason: "WhenEmptyOnly"; readonly nodePool: string }
  /** Nothing runs there, but a CapacityBuffer's room is there. */
  | { readonly reason: "BufferPods"; readonly node: string }
  /** consolidateAfter has not passed; `until` in ms, Infinity when nothing but a change will do. */
  | { readonly reason: "NotConsolidatable"; readonly until: number }
  | { readonly reason: "BudgetSpent"; readonly nodePool: string; readonly disruption: DisruptionReason }
  | { readonly reason: "PodsUnplaced"; readonly errors: readonly (readonly [pod: string, error: string])[] }
  | { readonly reason: "SeveralReplacements"; readonly count: number }
  /** `needs`: what the pods' new nodes would cost at least, and `costs` what is paid now, in USD per hour, where that was worked out. */
  | { readonly reason: "NotCheaper"; readonly needs?: number; readonly costs?: number }
  /** What is saved in `hours` is less than what the move counts as (USD). */
  | { readonly reason: "NotRepaid"; readonly savesPerHour: number; readonly hours: number; readonly moveCost: number }
  | { readonly reason: "MinValues"; readonly key: string; readonly wanted: number; readonly left: number }
  | { readonly reason: "SpotToSpotDisabled" }
  | { readonly reason: "SpotToSpotTooFew"; readonly count: number }
  | { readonly reason: "NotWorthIt"; readonly nodePool: string; readonly score: number };

/** A node that stays, as the shell reports it. */
export interface BlockedNode {
  readonly node: string;
  readonly nodeClaim: string;
  readonly blocked: Blocked;
}
