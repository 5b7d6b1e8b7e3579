import type { CapacityType } from "./instance-type.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { ConnectionTracking } from "./node-class.ts";
import type { PlannedNodeClaim } from "./plan.ts";

/** An instance as a launch or a listing of the cloud tells it. */
export interface Instance {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly imageId: string;
  readonly state: "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";
  /** Milliseconds since the epoch. */
  readonly launchedAt: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly subnetId?: string;
  readonly securityGroupIds?: readonly string[];
  readonly privateDnsName?: string;
  /** The capacity reservation that it was launched into and still stands in. */
  readonly reservationId?: string;
  /** Its partition of a placement group, "1" and up. */
  readonly partition?: string;
}

/** The facts of an instance that records keep. */
export type KnownInstance = Pick<
  Instance,
  "id" | "instanceType" | "zone" | "capacityType" | "imageId" | "subnetId" | "securityGroupIds" | "reservationId" | "partition"
>;

/** A capacity reservation that a launch goes into, and nowhere else. */
export interface ReservationTarget {
  readonly id: string;
  readonly type: "default" | "capacity-block";
  readonly interruptible: boolean;
}

/** One instance type in one subnet that a fleet may start. */
export interface FleetOverride {
  readonly instanceType: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly imageId: string;
  /** USD per hour, sent as the override's priority. */
  readonly price: number;
}

/**
 * A launch, rendered down to what the cloud is told. It is stored before the first call and repeated to the letter: the
 * same client token with other parameters is refused by EC2.
 */
export interface FleetRequest {
  readonly clientToken: string;
  readonly capacityType: CapacityType;
  readonly launchTemplates: readonly {
    readonly name: string;
    readonly overrides: readonly FleetOverride[];
    /** All of one request are of one kind; absent from requests that buy on-demand or spot. */
    readonly reservation?: ReservationTarget;
  }[];
  readonly tags: Readonly<Record<string, string>>;
  readonly context?: string;
  /** EC2 shall go by the overrides' prices, which are not its own; else by what it charges. */
  readonly prioritized?: true;
}

/** An instance template named by the hash of its content, so that making it twice makes one. */
export interface LaunchTemplate {
  readonly name: string;
  readonly imageId: string;
  /** As text; the adapter encodes it. */
  readonly userData: string;
  readonly instanceProfile: string;
  readonly securityGroupIds: readonly string[];
  readonly blockDeviceMappings: readonly {
    readonly deviceName?: string;
    readonly ebs: {
      readonly deleteOnTermination?: boolean;
      readonly encrypted?: boolean;
      readonly iops?: number;
      readonly kmsKeyId?: string;
      readonly snapshotId?: string;
      readonly throughput?: number;
      readonly volumeInitializationRate?: number;
      /** Whole GiB. */
      readonly volumeSize?: number;
      readonly volumeType?: string;
    };
  }[];
  readonly metadataOptions: {
    readonly httpEndpoint: string;
    readonly httpProtocolIPv6: string;
    readonly httpPutResponseHopLimit: number;
    readonly httpTokens: string;
  };
  readonly detailedMonitoring: boolean;
  readonly associatePublicIPAddress?: boolean;
  /** On the template itself, and on network interfaces and spot requests made from it. */
  readonly tags: Readonly<Record<string, string>>;
  readonly capacityType?: CapacityType;
  /** Absent: one ordinary interface. */
  readonly networkInterfaces?: readonly {
    readonly card: number;
    readonly device: number;
    readonly type: "interface" | "efa" | "efa-only";
  }[];
  /** Prefixes of the primary interface. */
  readonly ipPrefixCount?: number;
  /** Nodes have IPv6 addresses. */
  readonly ipv6?: true;
  readonly connectionTracking?: ConnectionTracking;
  readonly nestedVirtualization?: "enabled" | "disabled";
  /** Nitro Enclaves can be started in it. */
  readonly enclaves?: true;
  readonly placement?: { readonly groupId: string; readonly partition?: number };
  readonly tenancy?: "dedicated";
  /** Absent: the instance may end up in any open reservation that matches it; `none` keeps it out of all. */
  readonly reservation?: ReservationTarget | "none";
}

/** What one CreateFleet came to. Errors are told even when an instance was obtained. */
export interface FleetResult {
  readonly instance?: KnownInstance;
  readonly errors: readonly {
    /** EC2's error code. */
    readonly code: string;
    readonly message: string;
    readonly instanceType?: string;
    readonly zone?: string;
    readonly subnetId?: string;
    readonly capacityType: CapacityType;
  }[];
}

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

/** An offering that had no capacity: not tried again until it expires. Read with the time compared: TTL deletion lags by hours. */
export interface UnavailableOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export type DisruptionReason = "Empty" | "Underutilized" | "Drifted";

export interface CommandCandidate {
  readonly nodeClaim: string;
  readonly node: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly pricePerHour: number;
  /** "namespace/name" of the pods that must move. */
  readonly pods: readonly string[];
}

/**
 * A disruption decision, written before anything is done about it.
 * Validating → (15 s, still right) → Replacing → (all replacements initialized) → Deleting → gone; or rolled back.
 */
export interface CommandRecord {
  readonly cluster: string;
  readonly id: string;
  readonly version: number;
  readonly method: "emptiness" | "drift" | "multi" | "single" | "expiration";
  readonly reason: DisruptionReason;
  readonly decision: "delete" | "replace";
  readonly candidates: readonly CommandCandidate[];
  readonly replacements: readonly PlannedNodeClaim[];
  /** "namespace/name" of pods that are meant for nodes that stay, to the names of their NodeClaims: nobody else is promised that room. */
  readonly destinations?: Readonly<Record<string, string>>;
  /** Names of the replacement claims, set when they are written. */
  readonly replacementClaims: readonly string[];
  readonly savingsPerHour: number;
  readonly phase: "Validating" | "Replacing" | "Deleting" | "RollingBack";
  readonly createdAt: number;
  /** When the phase was entered, ms. */
  readonly since: number;
  readonly dueAt: number;
}

/** The right to decide for one cluster, for a while. The token grows with each holder, so a late writer is refused. */
export interface Lease {
  readonly cluster: string;
  readonly holder: string;
  readonly token: number;
  readonly expiresAt: number;
}
