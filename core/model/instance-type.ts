import type { ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";

export type CapacityType = "on-demand" | "spot" | "reserved";

/** One way to buy an instance type: a zone, a capacity type and its price. */
export interface Offering {
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** USD per hour; 0 when unknown. */
  readonly price: number;
  /** False while no price is known, the zone is out of reach, or a launch there has just failed for want of capacity. */
  readonly available: boolean;
  /** Until when it is left alone after such a launch, milliseconds since the epoch. */
  readonly unavailableUntil?: number;
  /** Would be available if its price were known; a NodeOverlay may tell it. */
  readonly unpriced?: true;
  /** The price is a NodeOverlay's. */
  readonly priceOverlaid?: true;
  readonly zoneId?: string;
  /** Capacity reservation, for capacityType "reserved". */
  readonly reservationId?: string;
  readonly reservationType?: "default" | "capacity-block";
  /** EC2 may take the machine back with two minutes' notice. */
  readonly reservationInterruptible?: boolean;
  /** Instances left in the reservation. */
  readonly reservationCapacity?: number;
}

/** What a cloud offers under one name, as Karpenter's scheduler sees it (spec of the fields: FORMAT of the conformance scenarios). */
export interface InstanceType {
  readonly name: string;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly capacity: ResourceList;
  /** Some of the capacity is a NodeOverlay's promise. */
  readonly capacityOverlaid?: true;
  readonly overhead: {
    readonly kubeReserved?: ResourceList;
    readonly systemReserved?: ResourceList;
    readonly evictionThreshold?: ResourceList;
  };
  readonly offerings: readonly Offering[];
}
