import type { ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";

export type CapacityType = "on-demand" | "spot" | "reserved";

/** Why an offering is unavailable: EC2's code and message of the launch that failed, or what else has marked it. */
export interface UnavailableCause {
  /** EC2's; for marks that follow from no launch "ZonalShift" or "Interruption". */
  readonly code: string;
  readonly message: string;
}

/** One way to buy an instance type: zone, capacity type and price. */
export interface Offering {
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** USD per hour; 0 when unknown. */
  readonly price: number;
  /** False while no price is known, the zone is out of reach, or a recent launch there found no capacity. */
  readonly available: boolean;
  /** Until when the offering counts as unavailable after such a launch, ms since the epoch. */
  readonly unavailableUntil?: number;
  /** Why, as far as it is known. */
  readonly unavailableCause?: UnavailableCause;
  /** Set when only the price is missing; a NodeOverlay may supply it. */
  readonly unpriced?: true;
  /** Set on spot while no spot price of the region is known: the price is that of on-demand. */
  readonly priceAssumed?: true;
  /** Set when a NodeOverlay gave the price. */
  readonly priceOverlaid?: true;
  readonly zoneId?: string;
  /** Id of the capacity reservation, for capacityType "reserved". */
  readonly reservationId?: string;
  readonly reservationType?: "default" | "capacity-block";
  /** EC2 may take the instance back with two minutes' notice. */
  readonly reservationInterruptible?: boolean;
  /** Instances left in the reservation. */
  readonly reservationCapacity?: number;
  /** Instances of the reservation that the cluster may use, those in use included. */
  readonly reservationSize?: number;
}

/**
 * An instance type as Karpenter's scheduler sees it: labels as requirements, capacity, overhead and offerings.
 * @example
 * { name: "m5.large", requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }, …],
 *   capacity: { cpu: "2", … }, overhead: {}, offerings: [{ zone: "eu-west-1a", capacityType: "spot", price: 0.04 }] }
 */
export interface InstanceType {
  readonly name: string;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly capacity: ResourceList;
  /** Set when a NodeOverlay added to the capacity. */
  readonly capacityOverlaid?: true;
  readonly overhead: {
    readonly kubeReserved?: ResourceList;
    readonly systemReserved?: ResourceList;
    readonly evictionThreshold?: ResourceList;
  };
  readonly offerings: readonly Offering[];
  /** Set when EC2 lists the type as a burstable performance instance. */
  readonly burstable?: true;
  /** USD per hour of the volumes that a node of this type gets from its NodeClass; 0 unless set. */
  readonly volumePrice?: number;
  /** EBS volumes that pods can have on a node of this type; no limit is known unless set. */
  readonly volumeLimit?: number;
}
