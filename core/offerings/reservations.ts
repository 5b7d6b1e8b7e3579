import type { Offering } from "../model/instance-type.ts";
import { CAPACITY_RESERVATION_ID } from "../model/labels.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { ResolvedReservation } from "../model/node-class.ts";
import { counted } from "../node-class/capacity-reservations.ts";

/**
 * Reserved capacity is paid for, used or not, so its price is almost zero; this share of the on-demand price keeps the
 * order of types
 * (karpenter-provider-aws: pkg/providers/instancetype/offering/reserved_capacity_resolver.go, ReservedCapacityResolver)
 */
const RESERVED_PRICE_SHARE = 1e-7;

/**
 * How many instances of a cluster use each reservation, or may use it: a NodeClaim that is not launched counts in each
 * reservation that it may be launched into, as it does while it is planned.
 */
export function heldReservations(records: readonly NodeClaimRecord[]): ReadonlyMap<string, number> {
  return counted(records.flatMap(holdsOf));
}

function holdsOf({ instance, launch, manifest, terminating }: NodeClaimRecord): readonly string[] {
  if (instance !== undefined) return instance.reservationId === undefined ? [] : [instance.reservationId];
  if (launch !== undefined) return [...new Set(launch.launchTemplates.flatMap(({ reservation }) => reservation?.id ?? []))];
  if (terminating !== undefined) return [];
  const wanted = manifest.spec.requirements.find(({ key }) => key === CAPACITY_RESERVATION_ID);
  return wanted?.operator === "In" ? (wanted.values ?? []) : [];
}

/**
 * The offering of a reservation; `onDemand` is the on-demand price of its type (USD per hour), `held` the number of its
 * instances that the cluster uses.
 */
export function reservedOffering(
  reservation: ResolvedReservation,
  facts: { readonly onDemand: number | undefined; readonly held: number; readonly usable: boolean; readonly zoneId: string | undefined },
): Offering {
  const { id, availabilityZone, reservationType, interruptible, state, usableInstanceCount = 0 } = reservation;
  const left = Math.max(0, usableInstanceCount - facts.held);
  return {
    zone: availabilityZone,
    capacityType: "reserved",
    price: (facts.onDemand ?? 0) * RESERVED_PRICE_SHARE,
    available: facts.usable && left > 0 && state !== "expiring",
    ...(facts.zoneId !== undefined && { zoneId: facts.zoneId }),
    reservationId: id,
    reservationType,
    reservationInterruptible: interruptible,
    reservationCapacity: left,
    reservationSize: usableInstanceCount,
  };
}
