import type { CapacityType } from "../model/instance-type.ts";
import type { UnavailableOffering } from "../model/record.ts";

/** How long an offering that had no capacity is left alone (pricing-offerings.md §6). */
export const UNAVAILABLE_MS = 3 * 60 * 1000;

/** Instance type or zone that stands for all of them: a capacity type as a whole, or a zone whose subnet has no addresses left. */
export const ANY = "*";

/** Whether an offering is marked. The marks are those not expired. */
export type IsUnavailable = (instanceType: string, zone: string, capacityType: CapacityType) => boolean;

/** Looks marks up by offering; a mark with "*" covers every type, or every zone. */
export function unavailableIndex(marks: readonly UnavailableOffering[]): IsUnavailable {
  if (marks.length === 0) return () => false;
  const keys = new Set(marks.map((mark) => key(mark.instanceType, mark.zone, mark.capacityType)));
  return (instanceType, zone, capacityType) =>
    keys.has(key(instanceType, zone, capacityType)) || keys.has(key(ANY, zone, capacityType)) || keys.has(key(ANY, ANY, capacityType));
}

function key(instanceType: string, zone: string, capacityType: CapacityType): string {
  return `${capacityType}:${instanceType}:${zone}`;
}
