import type { HistoryEntry } from "../model/history-entry.ts";
import type { Instance } from "../model/instance.ts";
import type { LaunchGroup } from "../model/launch-group.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord, WaitsFor } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import type { VolumeAttachment } from "../model/workloads.ts";
import type { RegistrationOutcome } from "../node-pool/registration-health.ts";
import type { PublishedEvent } from "../ports/kubernetes.ts";
import type { LogFields } from "../ports/log.ts";
import type { MetricName } from "../ports/metric-registry.ts";
import type { WakeUp } from "../ports/wake-ups.ts";

/**
 * What one step of a NodeClaim is decided from. The shell reads it for each pass, because events are hints and the
 * state of the cluster and of EC2 decides; between the steps of a pass it keeps what its own writes returned.
 */
export interface ClaimView {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly name: string;
  readonly record: NodeClaimRecord | undefined;
  readonly claim: NodeClaim | undefined;
  /** Nodes that carry the claim's providerID. */
  readonly nodes: readonly Node[];
  /** Nodes of other providerIDs that are not initialized; read only until the NodeClaim is registered. */
  readonly otherYoungNodes: readonly Node[];
  /** Undefined until EC2 was asked; `Step.ask` requests it. */
  readonly instance: Instance | "gone" | undefined;
  /** Pods bound to the node; undefined until `Step.ask` requests them, which a drain does. */
  readonly pods: readonly Pod[] | undefined;
  /** Volume attachments of the node, without those of pods that the drain leaves alone; undefined until asked for. */
  readonly volumeAttachments: readonly VolumeAttachment[] | undefined;
  /** Records of the NodeClaims made for this node's pods; read with the pods, only after an interruption notice. */
  readonly replacements: readonly NodeClaimRecord[];
  /** The group that the NodeClaim may be launched with; undefined until `Step.ask` requests it. */
  readonly launchGroup?: LaunchGroup | "none" | undefined;
  /** Whether changes of nodes are told, by the webhook or the audit log: the node is then looked for less often. */
  readonly isTold?: boolean;
}

/**
 * One effect for the shell. `perform` runs the actions of a step in order, each as one remote call; a crash between two
 * calls leaves a state from which the next pass continues.
 * @example
 * { type: "TerminateInstance", instanceId: "i-0abc" } // functions/lifecycle/perform.ts: deps.fleet.terminate("i-0abc")
 */
export type Action =
  /** Write a record for a NodeClaim without one: it was made by hand, or the table was lost. */
  | { readonly type: "Adopt"; readonly claim: NodeClaim }
  | { readonly type: "CreateClaim"; readonly record: NodeClaimRecord }
  /** `history` is written with it, here and where a record is forgotten. */
  | { readonly type: "WriteRecord"; readonly record: NodeClaimRecord; readonly history?: readonly HistoryEntry[] }
  /** Render a launch from the current EC2NodeClass and catalogue, create its launch templates, store it. */
  | { readonly type: "PrepareLaunch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Send the stored launch and store its outcome. */
  | { readonly type: "Launch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Take part in the launch of a group: the record says so first. */
  | { readonly type: "JoinLaunch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Render the request of the group and store it, after which nobody can join. */
  | { readonly type: "CloseLaunch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim; readonly group: LaunchGroup }
  /** Send the stored request of a group, and store which instance is whose. */
  | { readonly type: "LaunchGroup"; readonly record: NodeClaimRecord; readonly claim: NodeClaim; readonly group: LaunchGroup }
  /** Store the instance that the group's answer has for the NodeClaim, or that it has none. */
  | { readonly type: "TakeFromGroup"; readonly record: NodeClaimRecord; readonly claim: NodeClaim; readonly group: LaunchGroup }
  /** A NodeClaim that ends leaves a group whose request is not stored. */
  | { readonly type: "LeaveLaunch"; readonly record: NodeClaimRecord; readonly group: LaunchGroup }
  /** A NodeClaim that ends takes its instance, so that the instance ends, too. */
  | { readonly type: "TakeForEnd"; readonly record: NodeClaimRecord; readonly group: LaunchGroup }
  /** Search EC2 for the instances of a group whose answer was never stored. */
  | { readonly type: "FindGroup"; readonly record: NodeClaimRecord; readonly group: LaunchGroup }
  /** Give an instance that was launched with others the tags of its own NodeClaim. */
  | { readonly type: "TagInstance"; readonly record: NodeClaimRecord }
  /** Write the facts of the launched instance onto the NodeClaim. */
  | { readonly type: "WriteLaunched"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Search EC2 for the instance of a launch whose outcome was never stored. */
  | { readonly type: "FindInstance"; readonly record: NodeClaimRecord }
  | { readonly type: "WriteClaim"; readonly claim: NodeClaim; readonly metadata: boolean; readonly status: boolean }
  | { readonly type: "DeleteClaim"; readonly claim: NodeClaim }
  | { readonly type: "WriteNode"; readonly node: Node }
  /** Tell kube-scheduler that pods ("namespace/name") with these UIDs are meant for the node. */
  | { readonly type: "NominatePods"; readonly pods: readonly string[]; readonly uids: readonly string[]; readonly node: string }
  /** Nominate the pods of all these nodes, then remove the unregistered taint from all. One invocation does it. */
  | { readonly type: "OpenTogether"; readonly nodes: readonly Node[] }
  | { readonly type: "DeleteNode"; readonly node: Node }
  | { readonly type: "Evict"; readonly pod: Pod; readonly reason: string }
  | { readonly type: "DeletePod"; readonly pod: Pod; readonly gracePeriodSeconds: number }
  | { readonly type: "TerminateInstance"; readonly instanceId: string }
  | { readonly type: "Wake"; readonly wakeUp: WakeUp }
  | { readonly type: "Forget"; readonly record: NodeClaimRecord; readonly history?: readonly HistoryEntry[] }
  | { readonly type: "Event"; readonly event: PublishedEvent }
  | { readonly type: "Log"; readonly level: "debug" | "info" | "error"; readonly message: string; readonly fields: LogFields }
  | {
      readonly type: "Count";
      readonly metric: MetricName<"counter">;
      readonly labels: Readonly<Record<string, string>>;
      /** 1 when absent. */
      readonly by?: number;
    }
  | {
      readonly type: "Observe";
      readonly metric: MetricName<"histogram">;
      readonly labels: Readonly<Record<string, string>>;
      readonly seconds: number;
    }
  /** Record on the NodePool how the NodeClaim's registration ended. */
  | { readonly type: "RecordRegistration"; readonly claim: NodeClaim; readonly outcome: RegistrationOutcome };

/**
 * What a pass decided: effects for now, and when to call `advance` again.
 * @example
 * const step = advance(view); // { actions: [{ type: "CreateClaim", record }], again: true }
 * for (const action of step.actions) await perform(action);
 */
export interface Step {
  readonly actions: readonly Action[];
  /** Call `advance` again at once, with what the actions have changed. */
  readonly again?: boolean;
  /** Call `advance` again then, ms since the epoch. */
  readonly wakeAt?: number;
  /** What the NodeClaim waits for until then, where that can be seen without reading the NodeClaim (waiting.ts). */
  readonly waitsFor?: WaitsFor;
  /** The decision needs a part of the view that is not read each time: read it and call `advance` again with it. */
  readonly ask?: "instance" | "pods" | "volumeAttachments" | "launchGroup";
}
