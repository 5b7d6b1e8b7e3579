import type { Instance } from "../model/instance.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import type { VolumeAttachment } from "../model/workloads.ts";
import type { RegistrationOutcome } from "../node-pool/registration-health.ts";
import type { PublishedEvent } from "../ports/kubernetes.ts";
import type { LogFields } from "../ports/log.ts";
import type { WakeUp } from "../ports/wake-ups.ts";

/** What one pass over a claim sees. Read anew each time: events are hints, the world is the truth. */
export interface ClaimView {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly name: string;
  readonly record: NodeClaimRecord | undefined;
  readonly claim: NodeClaim | undefined;
  /** Nodes that carry the claim's providerID. */
  readonly nodes: readonly Node[];
  /** Undefined while EC2 was not asked; advance says when it must be. */
  readonly instance: Instance | "gone" | undefined;
  /** Pods bound to the node; read only while the claim goes. */
  readonly pods: readonly Pod[];
  /** Of the node, without those of volumes that stay with pods that are not drained. */
  readonly volumeAttachments: readonly VolumeAttachment[];
  /** Claims made to take this node's pods; read only after an interruption notice. */
  readonly replacements: readonly NodeClaimRecord[];
}

/**
 * One thing for the shell to do. They are done in order, each as its own remote call; a kill between two of them leaves a state
 * from which the next pass goes on.
 */
export type Action =
  /** Write a record for a claim that has none: made by hand, or the table was lost. */
  | { readonly type: "Adopt"; readonly claim: NodeClaim }
  | { readonly type: "CreateClaim"; readonly record: NodeClaimRecord }
  | { readonly type: "WriteRecord"; readonly record: NodeClaimRecord }
  /** Render a launch from the node class and catalogue of the moment, make its templates, store it. */
  | { readonly type: "PrepareLaunch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Send the stored launch and store what came of it. */
  | { readonly type: "Launch"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Write onto the claim what was launched for it. */
  | { readonly type: "TellLaunched"; readonly record: NodeClaimRecord; readonly claim: NodeClaim }
  /** Look in EC2 for the instance of a launch whose outcome was never stored. */
  | { readonly type: "FindInstance"; readonly record: NodeClaimRecord }
  | { readonly type: "WriteClaim"; readonly claim: NodeClaim; readonly metadata: boolean; readonly status: boolean }
  | { readonly type: "DeleteClaim"; readonly claim: NodeClaim }
  | { readonly type: "WriteNode"; readonly node: Node }
  | { readonly type: "DeleteNode"; readonly node: Node }
  | { readonly type: "Evict"; readonly pod: Pod; readonly reason: string }
  | { readonly type: "DeletePod"; readonly pod: Pod; readonly gracePeriodSeconds: number }
  | { readonly type: "TerminateInstance"; readonly instanceId: string }
  | { readonly type: "Wake"; readonly wakeUp: WakeUp }
  | { readonly type: "Forget"; readonly record: NodeClaimRecord }
  | { readonly type: "Event"; readonly event: PublishedEvent }
  | { readonly type: "Log"; readonly level: "debug" | "info" | "error"; readonly message: string; readonly fields: LogFields }
  | { readonly type: "Count"; readonly metric: string; readonly labels: Readonly<Record<string, string>> }
  | { readonly type: "Observe"; readonly metric: string; readonly labels: Readonly<Record<string, string>>; readonly seconds: number }
  /** Let the claim's pool know how its registration ended. */
  | { readonly type: "TellPool"; readonly claim: NodeClaim; readonly outcome: RegistrationOutcome };

/** What a pass decided. */
export interface Step {
  readonly actions: readonly Action[];
  /** Look again at once, with fresh eyes. */
  readonly again?: boolean;
  /** Look again then, ms since the epoch. */
  readonly wakeAt?: number;
  /** The decision needs to know the instance's state: ask EC2 and call again. */
  readonly ask?: "instance";
}
