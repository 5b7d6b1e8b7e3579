import type { Offering } from "../model/instance-type.ts";
import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_TYPE,
  ZONE,
  ZONE_ID,
} from "../model/labels.ts";
import { allowsAbsent, has, type Requirement } from "./requirement.ts";
import type { Requirements } from "./requirements.ts";

/** Labels that a node gets from its offering, and that distinguish the offerings of an instance type. */
export const OFFERING_KEYS = [
  ZONE,
  CAPACITY_TYPE,
  ZONE_ID,
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
];

/** The requirement on each of OFFERING_KEYS, in their order; undefined without one. */
export type OfferingRequirements = readonly (Requirement | undefined)[];

/** The part of some requirements that is about offerings. */
export function offeringRequirementsOf(requirements: Requirements): OfferingRequirements {
  return OFFERING_KEYS.map((key) => requirements.get(key));
}

/**
 * Whether requirements allow an offering, available or not. One rule for plans, prices, overlays and launches, because
 * a plan that another rule made would not be launched.
 */
export function admitsOffering(
  [zone, capacityType, zoneId, reservation, reservationType, interruptible]: OfferingRequirements,
  offering: Offering,
): boolean {
  if (zone !== undefined && !has(zone, offering.zone)) return false;
  if (capacityType !== undefined && !has(capacityType, offering.capacityType)) return false;
  // The id of a zone without a subnet is unknown; that an offering has no reservation is known.
  if (zoneId !== undefined && offering.zoneId !== undefined && !has(zoneId, offering.zoneId)) return false;
  return (
    allows(reservation, offering.reservationId) &&
    allows(reservationType, offering.reservationType) &&
    allows(interruptible, offering.reservationInterruptible?.toString())
  );
}

function allows(wanted: Requirement | undefined, value: string | undefined): boolean {
  return wanted === undefined || (value === undefined ? allowsAbsent(wanted) : has(wanted, value));
}
