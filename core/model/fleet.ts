import type { KnownInstance } from "./instance.ts";
import type { CapacityType } from "./instance-type.ts";
import type { ConnectionTracking } from "./node-class.ts";

/** The capacity reservation that a launch must use. */
export interface ReservationTarget {
  readonly id: string;
  readonly type: "default" | "capacity-block";
  readonly interruptible: boolean;
}

/** One instance type in one subnet that CreateFleet may launch. */
export interface FleetOverride {
  readonly instanceType: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly imageId: string;
  /** USD per hour, sent as the override's priority. */
  readonly price: number;
}

/**
 * One CreateFleet call, rendered completely. The record stores it before the first call, and every repetition sends it
 * unchanged, because EC2 refuses one client token with two sets of parameters.
 * @example
 * { clientToken: `${uid}-0`, capacityType: "spot",
 *   launchTemplates: [{ name: "karpenter.k8s.aws/…", overrides: [{ instanceType: "m5.large", … }] }], tags: {} }
 */
export interface FleetRequest {
  readonly clientToken: string;
  /** How many instances, 2 and up; absent for one. EC2 may launch fewer. */
  readonly count?: number;
  readonly capacityType: CapacityType;
  readonly launchTemplates: readonly {
    readonly name: string;
    readonly overrides: readonly FleetOverride[];
    /** All reservations of one request have one type; absent from requests that buy on-demand or spot. */
    readonly reservation?: ReservationTarget;
  }[];
  readonly tags: Readonly<Record<string, string>>;
  readonly context?: string;
  /** EC2 uses the overrides' prices (a NodeOverlay changed them) as priorities; absent: EC2 uses its own prices. */
  readonly prioritized?: true;
}

/** A launch template named by the hash of its content, so that two launches with equal content share one template. */
export interface LaunchTemplate {
  readonly name: string;
  readonly imageId: string;
  /** Plain text; the adapter encodes it. */
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
  /** Tags of the template, and of network interfaces and spot requests made from it. */
  readonly tags: Readonly<Record<string, string>>;
  readonly capacityType?: CapacityType;
  /** Absent: one ordinary network interface. */
  readonly networkInterfaces?: readonly {
    readonly card: number;
    readonly device: number;
    readonly type: "interface" | "efa" | "efa-only";
  }[];
  /** Number of IP prefixes of the primary interface. */
  readonly ipPrefixCount?: number;
  /** Set when nodes have IPv6 addresses. */
  readonly ipv6?: true;
  readonly connectionTracking?: ConnectionTracking;
  readonly nestedVirtualization?: "enabled" | "disabled";
  /** Set when the instance can start Nitro Enclaves. */
  readonly enclaves?: true;
  readonly placement?: { readonly groupId: string; readonly partition?: number };
  readonly tenancy?: "dedicated";
  /** Absent: the instance may use any open reservation that matches it; `none` keeps it out of all reservations. */
  readonly reservation?: ReservationTarget | "none";
}

/** The result of one CreateFleet. EC2 returns errors of single offerings also when it launched an instance. */
export interface FleetResult {
  readonly instance?: KnownInstance;
  /** Of a request for several, the instances beside the first. */
  readonly others?: readonly KnownInstance[];
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

/** All instances of a result. */
export function instancesOf({ instance, others = [] }: FleetResult): readonly KnownInstance[] {
  return instance === undefined ? [] : [instance, ...others];
}
