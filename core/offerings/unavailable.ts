import type { CapacityType } from "../model/instance-type.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/**
 * How long an offering without capacity counts as unavailable
 * (karpenter-provider-aws: pkg/cache/cache.go, UnavailableOfferingsTTL).
 */
export const UNAVAILABLE_MS = 3 * 60 * 1000;

/** An instance type or zone that means all of them, for example while spot as a whole is unavailable. */
export const ANY = "*";

/** Until when an offering is marked, ms since the epoch; undefined without a mark. Expired marks are not included. */
export type MarkedUntil = (instanceType: string, zone: string, capacityType: CapacityType) => number | undefined;

/** Finds marks by offering; a mark with "*" covers every type of a zone, or every type and zone. */
export function unavailableIndex(marks: readonly UnavailableOffering[]): MarkedUntil {
  if (marks.length === 0) return () => undefined;
  const until = new Map(marks.map((mark) => [key(mark.instanceType, mark.zone, mark.capacityType), mark.expiresAt]));
  return (instanceType, zone, capacityType) =>
    until.get(key(instanceType, zone, capacityType)) ?? until.get(key(ANY, zone, capacityType)) ?? until.get(key(ANY, ANY, capacityType));
}

/** The mark of a subnet without free addresses: its id replaces the zone's name. */
export function fullSubnetMark(subnetId: string, capacityType: CapacityType, expiresAt: number): UnavailableOffering {
  return { instanceType: ANY, zone: subnetId, capacityType, expiresAt };
}

/** The place name in marks of a placement group; the zone itself without a group. */
export function placeIn(zone: string, placementGroup: string | undefined): string {
  return placementGroup === undefined ? zone : `${zone}@${placementGroup}`;
}

/** The mark of a capacity reservation that gave no instance: its id replaces the zone's name. */
export function reservationMark(reservationId: string, expiresAt: number): UnavailableOffering {
  return { instanceType: ANY, zone: reservationId, capacityType: "reserved", expiresAt };
}

/** Marks for all offerings of a zone, used while a zonal shift moves traffic away from it. */
export function shiftedZoneMarks(zone: string, expiresAt: number): readonly UnavailableOffering[] {
  return (["on-demand", "spot", "reserved"] as const).map((capacityType) => ({ instanceType: ANY, zone, capacityType, expiresAt }));
}

/** Ids of the marked subnets. */
export function fullSubnets(marks: readonly UnavailableOffering[]): ReadonlySet<string> {
  return new Set(marks.filter(({ zone }) => zone.startsWith("subnet-")).map(({ zone }) => zone));
}

function key(instanceType: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${instanceType}:${zone}`;
}
