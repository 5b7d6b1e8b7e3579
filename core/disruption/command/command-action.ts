import type { CommandRecord, RepairOf } from "../../model/command-record.ts";
import type { HistoryEntry } from "../../model/history-entry.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { PublishedEvent } from "../../ports/kubernetes.ts";
import type { LogFields } from "../../ports/log.ts";
import type { MetricName } from "../../ports/metric-registry.ts";

/** A replacement claim with its name and intent id, the same however often it is written. */
export interface NamedReplacement {
  readonly name: string;
  readonly intentId: string;
  readonly planned: PlannedNodeClaim;
}

/**
 * One action for the shell. Actions are performed in order and are idempotent. After the last one the shell stores
 * `next` (unless WriteReplacements did), or removes the command when it is done.
 *
 *     { type: "Taint", node: "ip-10-0-0-1" }
 *     { type: "DeleteClaim", claim: "default-x7k2p", reason: "underutilized" }
 */
export type CommandAction =
  /** Add the taint karpenter.sh/disrupted:NoSchedule to the node. */
  | { readonly type: "Taint"; readonly node: string }
  | { readonly type: "Untaint"; readonly node: string }
  /** Set the claim's condition DisruptionReason=True, with the reason as reason and message. */
  | { readonly type: "SetDisruptionReason"; readonly claim: string; readonly reason: string }
  | { readonly type: "ClearDisruptionReason"; readonly claim: string }
  /** Write the replacement claims and `command` in one transaction: both are stored, or neither. */
  | { readonly type: "WriteReplacements"; readonly replacements: readonly NamedReplacement[]; readonly command: CommandRecord }
  /**
   * Mark the claim's record as terminating; `reason` is the label of nodeclaims_disrupted_total, which the shell counts
   * with it.
   */
  | {
      readonly type: "DeleteClaim";
      readonly claim: string;
      readonly reason: string;
      readonly commandId: string;
      readonly repair?: RepairOf;
    }
  /** Ask the lifecycle to reboot the claim's node, unless it was asked since `requestedAt`, ms. */
  | { readonly type: "RequestReboot"; readonly claim: string; readonly repair: RepairOf; readonly requestedAt: number }
  | { readonly type: "Event"; readonly event: PublishedEvent }
  | { readonly type: "Log"; readonly level: "debug" | "info" | "error"; readonly message: string; readonly fields: LogFields }
  | {
      readonly type: "Count";
      readonly metric: MetricName<"counter">;
      readonly labels: Readonly<Record<string, string>>;
      readonly value: number;
    };

/** What one step of a command decided. */
export interface CommandStep {
  readonly actions: readonly CommandAction[];
  /** The command's new state; undefined when it does not change. */
  readonly next?: CommandRecord;
  /** What the history keeps: written with the command's new state, or with its removal. */
  readonly history?: readonly HistoryEntry[];
  /** Set when the command has ended and is removed after the actions. */
  readonly done?: "succeeded" | "failed";
  /** When the next step is due at the latest, ms since the epoch; `now` means at once, with the state read again. */
  readonly wakeAt?: number;
}
