import type { CapacityType } from "../model/instance-type.ts";
import type { UnavailableOffering } from "../model/record.ts";

/** How long an offering that had no capacity is left alone (pricing-offerings.md §6). */
export const UNAVAILABLE_MS = 3 * 60 * 1000;

/** Instance type or zone that stands for all of them, as when spot as a whole is out of reach. */
export const ANY = "*";

/** Whether an offering is marked. The marks are those not expired. */
export type IsUnavailable = (instanceType: string, zone: string, capacityType: CapacityType) => boolean;

/** Looks marks up by offering; a mark with "*" covers every type, or every zone. */
export function unavailableIndex(marks: readonly UnavailableOffering[]): IsUnavailable {
  if (marks.length === 0) return () => false;
  const keys = new Set(marks.map((mark) => key(mark.instanceType, mark.zone, mark.capacityType)));
  return (instanceType, zone, capacityType) => keys.has(key(instanceType, zone, capacityType)) || keys.has(key(ANY, ANY, capacityType));
}

/** Marks a subnet without free addresses: its id stands where the zone's name does. */
export function fullSubnetMark(subnetId: string, capacityType: CapacityType, expiresAt: number): UnavailableOffering {
  return { instanceType: ANY, zone: subnetId, capacityType, expiresAt };
}

/** Ids of the subnets that are marked. */
export function fullSubnets(marks: readonly UnavailableOffering[]): ReadonlySet<string> {
  return new Set(marks.filter(({ zone }) => zone.startsWith("subnet-")).map(({ zone }) => zone));
}

function key(instanceType: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${instanceType}:${zone}`;
}
