import type { CommandRecord } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { PublishedEvent } from "../../ports/kubernetes.ts";
import type { LogFields } from "../../ports/log.ts";

/** A replacement under the name and identity that it gets, however often it is written. */
export interface NamedReplacement {
  readonly name: string;
  readonly intentId: string;
  readonly planned: PlannedNodeClaim;
}

/**
 * One thing for the shell to do. They are done in order, and each may be repeated: doing what is done already changes nothing.
 * After the last one the shell stores `next` (unless WriteReplacements did), or removes the command when it is done.
 */
export type CommandAction =
  /** Put karpenter.sh/disrupted:NoSchedule on the node. */
  | { readonly type: "Taint"; readonly node: string }
  | { readonly type: "Untaint"; readonly node: string }
  /** Condition DisruptionReason=True on the claim, with the reason as reason and message. */
  | { readonly type: "SetDisruptionReason"; readonly claim: string; readonly reason: string }
  | { readonly type: "ClearDisruptionReason"; readonly claim: string }
  /** Write the intents and `command` in one transaction: either both are there, or neither. */
  | { readonly type: "WriteReplacements"; readonly replacements: readonly NamedReplacement[]; readonly command: CommandRecord }
  /** Decide that the claim goes; `reason` is that of nodeclaims_disrupted_total, which the shell counts as it writes the record. */
  | { readonly type: "DeleteClaim"; readonly claim: string; readonly reason: string }
  | { readonly type: "Event"; readonly event: PublishedEvent }
  | { readonly type: "Log"; readonly level: "debug" | "info" | "error"; readonly message: string; readonly fields: LogFields }
  | {
      readonly type: "Count";
      readonly metric: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly value: number;
    };

/** What one look at a command decided. */
export interface CommandStep {
  readonly actions: readonly CommandAction[];
  /** The command as it becomes; absent when it stays as it is. */
  readonly next?: CommandRecord;
  /** The command has come to its end and can be forgotten once the actions are done. */
  readonly done?: "succeeded" | "failed";
  /** Look again then at the latest, ms; `now` means at once, with fresh eyes. */
  readonly wakeAt?: number;
}
