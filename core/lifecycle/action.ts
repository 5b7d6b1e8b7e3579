import type { GroupStep } from "../launch-group/step.ts";
import type { HistoryEntry } from "../model/history-entry.ts";
import type { Instance } from "../model/instance.ts";
import type { LaunchGroup } from "../model/launch-group.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord, WaitsFor } from "../model/node-claim-record.ts";
import type { Pause } from "../model/pause.ts";
import type { Pod } from "../model/pod.ts";
import type { VolumeAttachment } from "../model/workloads.ts";
import type { FailedLaunch } from "../node-pool/launch-backoff.ts";
import type { RegistrationOutcome } from "../node-pool/registration-health.ts";
import type { PublishedEvent } from "../ports/kubernetes.ts";
import type { LogFields } from "../ports/log.ts";
import type { MetricName } from "../ports/metric-registry.ts";
import type { WakeUp } from "../ports/wake-ups.ts";

/**
 * What one step of a NodeClaim is decided from. Each reconcile reads it, because events are hints and the state of the
 * cluster and of EC2 decides; between the steps of one reconcile, what its own writes returned is kept.
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
  /** What pauses the cluster; undefined until `Step.ask` requests it, which only an act does that a pause holds. */
  readonly pauses?: readonly Pause[] | undefined;
  /**
   * Whether the cluster's disruption rate lets the node end now, which asking counts; "now", or when to ask again (ms).
   * Undefined until `Step.ask` requests it.
   */
  readonly turn?: "now" | number;
  /** Why EC2 has refused the reboot that this reconcile has asked for. */
  readonly rebootRefused?: string | undefined;
  /** Whether the webhook or the audit log reports changes of nodes: the node is then polled less often. */
  readonly hasEventSource?: boolean;
}

/**
 * One effect. functions/lifecycle/perform.ts performs the actions of a step in order, each as one remote call; a crash
 * between two calls leaves a state from which the next reconcile continues.
 * @example
 * { type: "TerminateInstance", instanceId: "i-0abc" } // deps.fleet.terminate("i-0abc")
 */
export type Action =
  /** Write a record for a NodeClaim without one: it was made by hand, or the table was lost. */
  | { readonly type: "Adopt"; readonly claim: NodeClaim }
  | { readonly type: "CreateClaim"; readonly record: NodeClaimRecord }
  /** `history` is written with it, here and where a record is removed. */
  | { readonly type: "WriteRecord"; readonly record: NodeClaimRecord; readonly history?: readonly HistoryEntry[] }
  /** Render a launch from the current EC2NodeClass and catalogue, create its launch templates, store it. */
  | { readonly type: "PrepareLaunch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Send the stored launch and store its outcome. */
  | { readonly type: "Launch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Take a step of the launch that the NodeClaim shares with others (core/launch-group/step.ts). */
  | { readonly type: "LaunchGroup"; readonly step: GroupStep; readonly record: NodeClaimRecord; readonly claim: NodeClaim | undefined }
  /** Write the facts of the launched instance onto the NodeClaim. */
  | { readonly type: "WriteLaunched"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Search EC2 for the instance of a launch whose outcome was never stored. */
  | { readonly type: "FindInstance"; readonly record: NodeClaimRecord }
  | { readonly type: "WriteClaim"; readonly claim: NodeClaim; readonly metadata: boolean; readonly status: boolean }
  | { readonly type: "DeleteClaim"; readonly claim: NodeClaim }
  | { readonly type: "WriteNode"; readonly node: Node }
  /** Nominate pods ("namespace/name") with these UIDs for the node. */
  | { readonly type: "NominatePods"; readonly pods: readonly string[]; readonly uids: readonly string[]; readonly node: string }
  /** Nominate the pods of all these nodes, then remove the unregistered taint from all. One invocation does it. */
  | { readonly type: "UncordonTogether"; readonly nodes: readonly Node[] }
  | { readonly type: "DeleteNode"; readonly node: Node }
  | { readonly type: "Evict"; readonly pod: Pod; readonly reason: string }
  | { readonly type: "DeletePod"; readonly pod: Pod; readonly gracePeriodSeconds: number }
  | { readonly type: "TerminateInstance"; readonly instanceId: string }
  /** Reboot the instance; a refusal is in the view of the next step. */
  | { readonly type: "RebootInstance"; readonly instanceId: string }
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
  | { readonly type: "RecordRegistration"; readonly claim: NodeClaim; readonly outcome: RegistrationOutcome }
  /** Record on the NodePool that the NodeClaim's machine was bought for nothing. */
  | { readonly type: "RecordFailedLaunch"; readonly record: NodeClaimRecord; readonly end: FailedLaunch["end"] };

/**
 * What `advance` decided: effects for now, and when to call it again.
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
  /** Polls before `wakeAt`, ms since the epoch (polls.ts). */
  readonly polls?: readonly number[];
  /** What the NodeClaim waits for until then, where that can be seen without reading the NodeClaim (waiting.ts). */
  readonly waitsFor?: WaitsFor;
  /** The decision needs a part of the view that is not read each time: read it and call `advance` again with it. */
  readonly ask?: "instance" | "turn" | "pods" | "volumeAttachments" | "launchGroup" | "pauses";
}
