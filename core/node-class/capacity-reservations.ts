import { rfc3339 } from "../model/conditions.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { ResolvedReservation } from "../model/node-class.ts";
import type { CapacityReservation } from "../ports/cloud-inventory.ts";

/**
 * EC2 terminates the instances of a capacity block from 30 minutes before its end; 10 minutes are left for the drain
 * (karpenter-provider-aws: pkg/apis/v1/ec2nodeclass_status.go, CapacityReservationFromEC2).
 */
const EXPIRING_MS = 40 * 60_000;

/** Whether a reservation is a capacity block whose instances EC2 terminates soon. `now` in ms. */
export function isExpiring({ reservationType, endTime }: Pick<ResolvedReservation, "reservationType" | "endTime">, now: number): boolean {
  return reservationType === "capacity-block" && endTime !== undefined && Date.parse(endTime) - now <= EXPIRING_MS;
}

/**
 * Reservations for the status, by id; expired reservations are left out. `held` is the number of this cluster's
 * instances in each reservation, because EC2 counts them as used. `now` in ms.
 */
export function resolveReservations(
  found: readonly CapacityReservation[],
  held: ReadonlyMap<string, number>,
  now: number,
): readonly ResolvedReservation[] {
  const byId = new Map(found.map((reservation) => [reservation.id, reservation]));
  return [...byId.values()]
    .filter(({ endTime }) => endTime === undefined || Date.parse(endTime) > now)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, zone, instanceType, instanceMatchCriteria, ownerID, reservationType, interruptible, endTime, availableInstances }) => ({
      ...{ id, availabilityZone: zone, instanceType, instanceMatchCriteria, ownerID, reservationType, interruptible },
      state: isExpiring({ reservationType, ...(endTime !== undefined && { endTime }) }, now) ? "expiring" : "active",
      ...(endTime !== undefined && { endTime: rfc3339(Date.parse(endTime)) }),
      usableInstanceCount: availableInstances + (held.get(id) ?? 0),
    }));
}

/** The number of instances in each reservation, by the records of a cluster. */
export function standingIn(records: readonly NodeClaimRecord[]): ReadonlyMap<string, number> {
  return counted(records.flatMap(({ instance }) => instance?.reservationId ?? []));
}

/** How often each id occurs. */
export function counted(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
