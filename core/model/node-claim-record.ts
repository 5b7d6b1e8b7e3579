import type { FleetRequest } from "./fleet.ts";
import type { KnownInstance } from "./instance.ts";
import type { ResourceList } from "./kubernetes.ts";
import type { NodeClaim } from "./node-claim.ts";

/** Why a NodeClaim was made: the `reason` label of nodeclaims_created_total. */
export type ClaimReason = "provisioned" | "underutilized" | "drifted" | "unhealthy" | "empty" | "adopted";

/**
 * The intent for one NodeClaim. Each remote call is written here first, version checked, so that a crash between two
 * calls loses nothing. The NodeClaim object mirrors the record; the EC2 instance carries the NodeClaim's name and UID
 * as tags.
 * @example
 * const next: NodeClaimRecord = { ...record, launch: request, launchRequestedAt: now }; // intent
 * await store.update(next); // then: fleet.launch(next.launch)
 */
export interface NodeClaimRecord {
  /** Version of the record's fields (read-record.ts). */
  readonly schema?: number;
  readonly cluster: string;
  readonly name: string;
  /** Grows by one with each write; a write names the version that it read. */
  readonly version: number;
  /**
   * Random, made with the intent. The NodeClaim carries it as an annotation, so that another object of the same name is
   * not taken for this one.
   */
  readonly intentId: string;
  /** UID of the NodeClaim object, once it exists: prefix of the EC2 client token, and a tag of the instance. */
  readonly uid?: string;
  readonly nodePool?: string;
  /** The NodeClaim object to create. */
  readonly manifest: NodeClaim;
  readonly reason: ClaimReason;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /**
   * UIDs of the pods that the NodeClaim was made for: they are nominated to it, and not planned again while they have a
   * place (core/provisioning/nominations.ts).
   */
  readonly podUids: readonly string[];
  /**
   * Its node takes no pods until it is Ready, together with others, and these pods ("namespace/name") are nominated to
   * it (core/lifecycle/hold.ts). Empty where its pods may take each other's places, so that none is nominated. Absent
   * where no other node starts at the same time.
   */
  readonly heldFor?: readonly string[];
  /** Instance types that may be launched, cheapest first. */
  readonly instanceTypes: readonly string[];
  readonly pricePerHour: number;
  /** Id of the disruption command that waits for this NodeClaim. */
  readonly commandId?: string;
  /** `metadata.generation` of the NodePool when the NodeClaim was planned. */
  readonly nodePoolGeneration?: number;
  /** How often the API server has refused a NodeClaim for some of these pods before. */
  readonly refusals?: number;
  /** The API server refuses to create the NodeClaim; `message` says why, `at` in ms (core/provisioning/refused.ts). */
  readonly refused?: { readonly message: string; readonly at: number };
  /** The NodeClaims that it may be launched together with; absent for one that is launched alone. */
  readonly launchGroup?: LaunchGroupPlan;
  /** How often a launch was rendered; part of the client token. */
  readonly launchAttempts: number;
  /** The launch in progress: stored before the call, removed with its outcome. */
  readonly launch?: FleetRequest;
  readonly instance?: KnownInstance;
  /** The NodeClaim's own tags, which an instance that was launched together with others gets after its launch. */
  readonly dueTags?: Readonly<Record<string, string>>;
  /** When `launch` was stored, ms: how long its outcome has been unknown. */
  readonly launchRequestedAt?: number;
  /** When `launch` was last sent with an outcome that is unknown, ms; absent while only its first call may be. */
  readonly launchUnknownAt?: number;
  /** When a launch failed for a reason that may pass, ms; the lifecycle retries it. */
  readonly launchFailedAt?: number;
  readonly launchedAt?: number;
  /** What the machine cost when it was launched, as far as that was known; USD. */
  readonly launchPrice?: {
    readonly pricePerHour?: number;
    /** Of the same type on demand in the same zone. */
    readonly onDemandPerHour?: number;
  };
  /** The node, once it has registered. */
  readonly nodeName?: string;
  readonly initializedAt?: number;
  /** When EC2 was last asked to reboot its instance, ms. */
  readonly rebootSentAt?: number;
  /** When the reboots of its last day were requested, ms. */
  readonly reboots?: readonly number[];
  /** Set when the NodeClaim must be removed; no instance is launched for it from then on. */
  readonly terminating?: {
    readonly reason: string;
    readonly at: number;
    /** What is known beyond the reason, as a phrase for people. */
    readonly detail?: string;
    /** The disruption command that removes the NodeClaim. */
    readonly commandId?: string;
    /** The policy of the NodePool by which the command consolidates, in snake case. */
    readonly consolidationPolicy?: string;
    /**
     * After this time (ms) termination no longer waits for pods and volumes; absent: terminationGracePeriod of the
     * NodeClaim decides.
     */
    readonly deadline?: number;
  };
  /**
   * When a pod last came to its node or left it, ms. Not stored: each disruption pass adds it
   * (core/disruption/reports/pod-events.ts).
   */
  readonly lastPodEventAt?: number;
  /**
   * When its launch was last put off because EC2's bucket of requests was empty. That is no failure of the launch, and
   * does not count for its time-out.
   */
  readonly launchPutOffAt?: number;
  /** When the lifecycle must look at the record next, ms since the epoch. */
  readonly dueAt: number;
  /**
   * What the NodeClaim waits for. It holds only together with the `dueAt` that it was written with: an older version of
   * this product changes one and keeps the other.
   */
  readonly waits?: { readonly for: WaitsFor; readonly dueAt: number };
}

/**
 * What a NodeClaim may wait for: its node to join and become Ready, the end of its instance, the nodes that replace it,
 * pods of its node that all end, pods of which some are still to be evicted, or the detachment of its node's volumes
 * (core/passes/claim-check.ts).
 */
export type WaitsFor = "node" | "end" | "replacements" | "pods" | "evictions" | "volumes";

/** What a plan says of a launch of several NodeClaims (core/launch-group/plan.ts). */
export interface LaunchGroupPlan {
  readonly id: string;
  /** Names of all that are expected to join, sorted. */
  readonly members: readonly string[];
  /** The most that any of them requests of each resource: an instance type must hold it. */
  readonly requests: ResourceList;
  /** Of offerings with one price the zone that EC2 gets first, as a place in the order of all zones. */
  readonly zoneTurn: number;
  /** How long a member waits for the others, ms. */
  readonly joinMs: number;
  /** When the NodeClaim was ready to join, ms. From then on only code that knows groups may launch it. */
  readonly joinedAt?: number;
}
