import type { Template } from "./template.ts";

/** Instances left by reservation id. Pools may report different numbers for one reservation; the lowest is used. */
export function reservationCapacity(templates: readonly Template[]): ReadonlyMap<string, number> {
  const capacity = new Map<string, number>();
  for (const table of new Set(templates.map((template) => template.table))) {
    if (!table.hasReserved) continue;
    for (const { offerings } of table.types) {
      for (const { reservationId, reservationCapacity: left = 0, available } of offerings) {
        if (reservationId !== undefined && available) capacity.set(reservationId, Math.min(capacity.get(reservationId) ?? left, left));
      }
    }
  }
  return capacity;
}
