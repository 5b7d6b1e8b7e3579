import type {
  AmiSelectorTerm,
  CapacityReservationSelectorTerm,
  PlacementGroupSelector,
  ResolvedPlacementGroup,
  ResolvedReservation,
  SecurityGroupSelectorTerm,
  SubnetSelectorTerm,
} from "../model/node-class.ts";

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly availableIps: number;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  /** As EC2 writes it: "x86_64" or "arm64". */
  readonly architecture: string;
  /** ISO 8601. */
  readonly creationDate: string;
  /** ISO 8601. */
  readonly deprecationTime?: string;
}

/** An active capacity reservation. */
export interface CapacityReservation
  extends Pick<ResolvedReservation, "id" | "instanceType" | "instanceMatchCriteria" | "ownerID" | "reservationType" | "interruptible"> {
  readonly zone: string;
  /** Instances that may still be launched into it. */
  readonly availableInstances: number;
  /** ISO 8601; absent when it has no end. */
  readonly endTime?: string;
}

/** Reserved instances: a discount for on-demand instances, bought for years. */
export interface ReservedInstance {
  readonly instanceType: string;
  readonly count: number;
  /** Set for zonal ones, which pay for one type in this zone. */
  readonly zone?: string;
  /** As EC2 writes it: "Linux/UNIX", "Windows (Amazon VPC)". */
  readonly platform: string;
  readonly tenancy: string;
}

/** An instance that runs, or is about to, and is billed on demand: neither spot nor in a capacity block. */
export interface OnDemandInstance {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  /** ms since the epoch. */
  readonly launchedAt: number;
  /** The cluster whose NodePools it belongs to; absent for all others. */
  readonly cluster?: string;
  readonly isWindows: boolean;
  /** Whether its hardware is dedicated. */
  readonly isDedicated: boolean;
}

/** A DescribeInstanceTypes record with EC2's field names; the code that reads a field checks its type. */
export interface InstanceTypeRecord {
  readonly InstanceType: string;
  readonly [field: string]: unknown;
}

/**
 * What an account and region offer: subnets, images, reservations, instance types, prices. Only the catalog function
 * calls it; it writes the answers into the status of each EC2NodeClass and into the catalogue document, which all
 * decisions read.
 * @example
 * const subnets = await inventory.subnets(nodeClass.spec.subnetSelectorTerms);
 * const pricesUsdPerHour = await inventory.onDemandPrices(); // { "m5.large": 0.096, … }
 */
export interface CloudInventory {
  subnets(terms: readonly SubnetSelectorTerm[]): Promise<readonly Subnet[]>;
  securityGroups(terms: readonly SecurityGroupSelectorTerm[]): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** Images that match the terms without an alias, and images by id. */
  images(terms: readonly AmiSelectorTerm[]): Promise<readonly Image[]>;
  /** Active capacity reservations; ids that do not exist are left out. */
  capacityReservations(terms: readonly CapacityReservationSelectorTerm[]): Promise<readonly CapacityReservation[]>;
  /** The available placement group that a selector names; undefined when no group matches. */
  placementGroup(selector: PlacementGroupSelector): Promise<ResolvedPlacementGroup | undefined>;
  /** The value of an SSM parameter; undefined when the parameter does not exist. */
  parameter(name: string): Promise<string | undefined>;
  /** Creates the profile with its role unless it exists; returns its name. */
  ensureInstanceProfile(profile: {
    readonly name: string;
    readonly path: string;
    readonly role: string;
    readonly tags: Readonly<Record<string, string>>;
  }): Promise<string>;
  /**
   * Removes a profile that `ensureInstanceProfile` made; a missing profile counts as removed. When the method is
   * absent, profiles of deleted NodeClasses stay.
   */
  removeInstanceProfile?(name: string): Promise<void>;
  /** Profiles under a path. Absent where this cluster makes no profiles. */
  instanceProfiles?(path: string): Promise<readonly ListedProfile[]>;
  instanceTypes(): Promise<readonly InstanceTypeRecord[]>;
  /** Zones by instance type. */
  instanceTypeZones(): Promise<Readonly<Record<string, readonly string[]>>>;
  /** The active reserved instances that the account has bought in the region. */
  reservedInstances(): Promise<readonly ReservedInstance[]>;
  /** Instances of the account and region that are billed on demand, of some families only when they are named. */
  onDemandInstances(families: readonly string[] | undefined): Promise<readonly OnDemandInstance[]>;
  zones(): Promise<readonly { readonly name: string; readonly zoneId: string }[]>;
  /** USD per hour by type. */
  onDemandPrices(): Promise<Readonly<Record<string, number>>>;
  /** USD per hour by type and zone. */
  spotPrices(): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>>;
}

/** An instance profile under the cluster's own path. */
export interface ListedProfile {
  readonly name: string;
  /** ms. */
  readonly createdAt: number;
}
