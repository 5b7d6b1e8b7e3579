import type { CapacityType } from "../model/instance-type.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/** How long an offering that had no capacity is left alone (pricing-offerings.md §6). */
export const UNAVAILABLE_MS = 3 * 60 * 1000;

/** Instance type or zone that stands for all of them, as when spot as a whole is out of reach. */
export const ANY = "*";

/** Until when an offering is marked, milliseconds since the epoch; undefined when it is not. The marks are those not expired. */
export type MarkedUntil = (instanceType: string, zone: string, capacityType: CapacityType) => number | undefined;

/** Looks marks up by offering; a mark with "*" covers every type of a zone, or every type and zone. */
export function unavailableIndex(marks: readonly UnavailableOffering[]): MarkedUntil {
  if (marks.length === 0) return () => undefined;
  const until = new Map(marks.map((mark) => [key(mark.instanceType, mark.zone, mark.capacityType), mark.expiresAt]));
  return (instanceType, zone, capacityType) =>
    until.get(key(instanceType, zone, capacityType)) ?? until.get(key(ANY, zone, capacityType)) ?? until.get(key(ANY, ANY, capacityType));
}

/** Marks a subnet without free addresses: its id stands where the zone's name does. */
export function fullSubnetMark(subnetId: string, capacityType: CapacityType, expiresAt: number): UnavailableOffering {
  return { instanceType: ANY, zone: subnetId, capacityType, expiresAt };
}

/** What stands for a zone in marks of a placement group; the zone itself when there is none. */
export function placeIn(zone: string, placementGroup: string | undefined): string {
  return placementGroup === undefined ? zone : `${zone}@${placementGroup}`;
}

/** Marks a capacity reservation from which nothing could be had: its id stands where the zone's name does. */
export function reservationMark(reservationId: string, expiresAt: number): UnavailableOffering {
  return { instanceType: ANY, zone: reservationId, capacityType: "reserved", expiresAt };
}

/** Marks all that a zone offers, as while traffic is shifted away from it. */
export function shiftedZoneMarks(zone: string, expiresAt: number): readonly UnavailableOffering[] {
  return (["on-demand", "spot", "reserved"] as const).map((capacityType) => ({ instanceType: ANY, zone, capacityType, expiresAt }));
}

/** Ids of the subnets that are marked. */
export function fullSubnets(marks: readonly UnavailableOffering[]): ReadonlySet<string> {
  return new Set(marks.filter(({ zone }) => zone.startsWith("subnet-")).map(({ zone }) => zone));
}

function key(instanceType: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${instanceType}:${zone}`;
}
