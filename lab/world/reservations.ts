import type { FleetOverride, ReservationTarget } from "#core/model/fleet.ts";
import type { Instance } from "#core/model/instance.ts";
import type { CapacityReservationSelectorTerm } from "#core/model/node-class.ts";
import type { CapacityReservation } from "#core/ports/cloud-inventory.ts";

/** A capacity reservation of the account. */
export interface SimulatedReservation extends Omit<CapacityReservation, "availableInstances"> {
  /** Number of instances it holds, free or used. */
  readonly instances: number;
}

/**
 * The reservations that selector terms find. The world has no tags and no other accounts, so a term of tags or owners
 * alone finds all.
 */
export function selectReservations(
  reservations: readonly SimulatedReservation[],
  terms: readonly CapacityReservationSelectorTerm[],
  machines: readonly Instance[],
): readonly CapacityReservation[] {
  return reservations
    .filter((reservation) =>
      terms.some(({ id = reservation.id, instanceMatchCriteria = reservation.instanceMatchCriteria }) => {
        return id === reservation.id && instanceMatchCriteria === reservation.instanceMatchCriteria;
      }),
    )
    .map(({ instances, ...reservation }) => ({ ...reservation, availableInstances: instances - takenOf(reservation.id, machines) }));
}

/** EC2's code when no instance can be launched into a reservation; undefined when there is room. */
export function reservationFault(
  { id }: ReservationTarget,
  { instanceType, zone }: FleetOverride,
  reservations: readonly SimulatedReservation[],
  machines: readonly Instance[],
): string | undefined {
  const reservation = reservations.find((known) => known.id === id && known.instanceType === instanceType && known.zone === zone);
  if (reservation === undefined) return "InvalidCapacityReservationId.NotFound";
  return takenOf(id, machines) < reservation.instances ? undefined : "ReservationCapacityExceeded";
}

function takenOf(id: string, machines: readonly Instance[]): number {
  return machines.filter(({ reservationId, state }) => reservationId === id && state !== "terminated").length;
}
