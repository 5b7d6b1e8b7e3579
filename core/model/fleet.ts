import type { KnownInstance } from "./instance.ts";
import type { CapacityType } from "./instance-type.ts";
import type { ConnectionTracking } from "./node-class.ts";

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
