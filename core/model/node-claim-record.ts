import type { FleetRequest } from "./fleet.ts";
import type { KnownInstance } from "./instance.ts";
import type { NodeClaim } from "./node-claim.ts";

/** Why a claim was made: the `reason` label of nodeclaims_created_total. */
export type ClaimReason = "provisioned" | "underutilized" | "drifted" | "empty" | "adopted";

/**
 * The intent for one NodeClaim: what is about to happen is written here, version checked, before the call that does it
 * (architecture.md, idea 3). The custom resource mirrors it; the instance carries its name and UID as tags.
 */
export interface NodeClaimRecord {
  readonly cluster: string;
  readonly name: string;
  /** Grows by one with each write; a write names the version it read. */
  readonly version: number;
  /** Random, made with the intent; the custom resource carries it as an annotation, so that a stranger of the same name is not taken for ours. */
  readonly intentId: string;
  /** UID of the custom resource, once it exists: prefix of the EC2 client token and an instance tag. */
  readonly uid?: string;
  readonly nodePool?: string;
  /** The custom resource as it shall be created. */
  readonly manifest: NodeClaim;
  readonly reason: ClaimReason;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** UIDs of the pods it was made for. They are not planned again until it has launched. */
  readonly podUids: readonly string[];
  /** Types it may be launched as, cheapest first. */
  readonly instanceTypes: readonly string[];
  readonly pricePerHour: number;
  /** Disruption command that waits for it. */
  readonly commandId?: string;
  /** How often a launch was rendered; part of the client token. */
  readonly launchAttempts: number;
  /** The launch under way: stored before the call, cleared by its outcome. */
  readonly launch?: FleetRequest;
  readonly instance?: KnownInstance;
  /** When `launch` was stored, ms: how long its outcome has been unknown. */
  readonly launchRequestedAt?: number;
  /** When a launch failed for a reason that may pass, ms: it is tried again a little later. */
  readonly launchFailedAt?: number;
  readonly launchedAt?: number;
  readonly initializedAt?: number;
  /** Set when the claim shall go; from then on nothing is launched for it. */
  readonly terminating?: {
    readonly reason: string;
    readonly at: number;
    /** By then pods and volumes are waited for no longer, ms; absent: as the claim's terminationGracePeriod says. */
    readonly deadline?: number;
  };
  /** Fingerprint of the pods on the node when it was last looked at; a change moves lastPodEventAt. */
  readonly podsDigest?: string;
  readonly lastPodEventAt?: number;
  /** Next time somebody must look, ms since the epoch. */
  readonly dueAt: number;
}
