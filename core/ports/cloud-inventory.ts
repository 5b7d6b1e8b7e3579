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
  /** As EC2 says it: "x86_64" or "arm64". */
  readonly architecture: string;
  /** ISO 8601. */
  readonly creationDate: string;
  /** ISO 8601. */
  readonly deprecationTime?: string;
}

/** A capacity reservation that is active. */
export interface CapacityReservation
  extends Pick<ResolvedReservation, "id" | "instanceType" | "instanceMatchCriteria" | "ownerID" | "reservationType" | "interruptible"> {
  readonly zone: string;
  /** Instances that may still be launched into it. */
  readonly availableInstances: number;
  /** ISO 8601; absent when it has no end. */
  readonly endTime?: string;
}

/** A DescribeInstanceTypes record, with EC2's field names; only what instance-types.md reads is typed. */
export interface InstanceTypeRecord {
  readonly InstanceType: string;
  readonly [field: string]: unknown;
}

/** What an account and region offer: read by the catalog function alone. */
export interface CloudInventory {
  subnets(terms: readonly SubnetSelectorTerm[]): Promise<readonly Subnet[]>;
  securityGroups(terms: readonly SecurityGroupSelectorTerm[]): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** Images of non-alias terms and of ids. */
  images(terms: readonly AmiSelectorTerm[]): Promise<readonly Image[]>;
  /** Active capacity reservations; ids that do not exist are passed over. */
  capacityReservations(terms: readonly CapacityReservationSelectorTerm[]): Promise<readonly CapacityReservation[]>;
  /** The available group that a selector names; undefined when there is none. */
  placementGroup(selector: PlacementGroupSelector): Promise<ResolvedPlacementGroup | undefined>;
  /** An SSM parameter's value; undefined when there is none. */
  parameter(name: string): Promise<string | undefined>;
  /** Makes the profile with its role unless it is there; returns its name. */
  ensureInstanceProfile(profile: {
    readonly name: string;
    readonly path: string;
    readonly role: string;
    readonly tags: Readonly<Record<string, string>>;
  }): Promise<string>;
  /** Removes a profile that `ensureInstanceProfile` made; not found counts as done. Without it, profiles of deleted NodeClasses stay. */
  removeInstanceProfile?(name: string): Promise<void>;
  /** Profiles under a path. Absent where profiles are made for nobody. */
  instanceProfiles?(path: string): Promise<readonly ListedProfile[]>;
  instanceTypes(): Promise<readonly InstanceTypeRecord[]>;
  /** Zones by instance type. */
  instanceTypeZones(): Promise<Readonly<Record<string, readonly string[]>>>;
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
