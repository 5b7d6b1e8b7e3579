import type { FleetOverride, FleetRequest, FleetResult, ReservationTarget } from "../model/fleet.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { ANY, causeOf, fullSubnetMark, placeIn, reservationMark } from "../offerings/unavailable.ts";
import { isSpreadLimit, isUnfulfillable, SPOT_ROLE_MISSING } from "./failure.ts";

/**
 * Marks of the offerings that a request found without capacity, until `expiresAt` (ms). In a placement group only the
 * group lacks capacity: the marks name the group. Reservations and subnets have marks of their own.
 */
export function marksOf(
  request: FleetRequest,
  { errors }: FleetResult,
  expiresAt: number,
  placementGroup?: string,
): readonly UnavailableOffering[] {
  const zoneBySubnet = new Map(
    request.launchTemplates.flatMap(({ overrides }) => overrides.map(({ subnetId, zone }) => [subnetId, zone] as const)),
  );
  const marks = new Map<string, UnavailableOffering>();
  for (const error of errors) {
    const mark = (offering: UnavailableOffering): void => {
      marks.set(`${offering.capacityType}:${offering.instanceType}:${offering.zone}`, { ...offering, cause: causeOf(error) });
    };
    const { code, message, instanceType, zone, subnetId, capacityType } = error;
    if (code === SPOT_ROLE_MISSING) mark({ instanceType: ANY, zone: ANY, capacityType: "spot", expiresAt });
    if (!isUnfulfillable(error)) continue;
    const where = zone ?? (subnetId === undefined ? undefined : zoneBySubnet.get(subnetId));
    const reservation = capacityType === "reserved" ? reservationOf(request, { instanceType, zone: where }) : undefined;
    if (code === "InsufficientFreeAddressesInSubnet" && subnetId !== undefined) mark(fullSubnetMark(subnetId, capacityType, expiresAt));
    else if (reservation !== undefined) mark(reservationMark(reservation.id, expiresAt));
    else if (instanceType !== undefined && where !== undefined) {
      const type = isSpreadLimit(message) ? ANY : instanceType;
      mark({ instanceType: type, zone: placeIn(where, placementGroup), capacityType, expiresAt });
    }
  }
  return [...marks.values()];
}

/** The reservation that a request uses for an instance type in a zone. */
export function reservationOf(
  { launchTemplates }: FleetRequest,
  { instanceType, zone }: { readonly instanceType: string | undefined; readonly zone: string | undefined },
): ReservationTarget | undefined {
  const isIt = (override: FleetOverride): boolean => override.instanceType === instanceType && override.zone === zone;
  return launchTemplates.find(({ overrides }) => overrides.some(isIt))?.reservation;
}
