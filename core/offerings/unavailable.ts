import type { CapacityType, UnavailableCause } from "../model/instance-type.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/**
 * How long an offering without capacity counts as unavailable
 * (karpenter-provider-aws: pkg/cache/cache.go, UnavailableOfferingsTTL).
 */
export const UNAVAILABLE_MS = 3 * 60 * 1000;

/** An instance type or zone that means all of them, for example while spot as a whole is unavailable. */
export const ANY = "*";

/** The mark of an offering; undefined without one. Expired marks are not included. */
export type MarkOf = (instanceType: string, zone: string, capacityType: CapacityType) => UnavailableOffering | undefined;

/** Finds marks by offering; a mark with "*" covers every type of a zone, or every type and zone. */
export function unavailableIndex(marks: readonly UnavailableOffering[]): MarkOf {
  if (marks.length === 0) return () => undefined;
  const known = new Map(marks.map((mark) => [key(mark.instanceType, mark.zone, mark.capacityType), mark]));
  return (instanceType, zone, capacityType) =>
    known.get(key(instanceType, zone, capacityType)) ?? known.get(key(ANY, zone, capacityType)) ?? known.get(key(ANY, ANY, capacityType));
}

/** A mark must stay far below 1 KB, the unit in which DynamoDB bills a write. */
const MAX_CAUSE = 300;

/** The cause of a mark, its message within its bound. */
export function causeOf({ code, message }: UnavailableCause): UnavailableCause {
  return { code: code.slice(0, MAX_CAUSE), message: message.length > MAX_CAUSE ? `${message.slice(0, MAX_CAUSE - 1)}…` : message };
}

/** Marks without their causes, for documents with hundreds of them. */
export const withoutCauses = (marks: readonly UnavailableOffering[]): readonly UnavailableOffering[] =>
  marks.map(({ cause: _, ...mark }) => mark);

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
  const cause = { code: "ZonalShift", message: `a zonal shift moves the cluster away from ${zone}` };
  return (["on-demand", "spot", "reserved"] as const).map((capacityType) => ({ instanceType: ANY, zone, capacityType, expiresAt, cause }));
}

/** The marked subnets by id, each with the mark that ends last. */
export function fullSubnets(marks: readonly UnavailableOffering[]): ReadonlyMap<string, UnavailableOffering> {
  const full = marks.filter(({ zone }) => zone.startsWith("subnet-")).sort((a, b) => a.expiresAt - b.expiresAt);
  return new Map(full.map((mark) => [mark.zone, mark]));
}

function key(instanceType: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${instanceType}:${zone}`;
}
