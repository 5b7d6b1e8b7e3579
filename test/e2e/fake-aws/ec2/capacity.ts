import type { ActiveFault, Call, EmptyPool } from "../faults.ts";
import type { FakeAwsState } from "../world.ts";
import type { LaunchPlan } from "./launch-data.ts";

/** What a handler gets besides the parameters of its call. */
export type CallContext = { readonly call: Call; readonly faults: readonly ActiveFault[] };

export type CapacityType = "on-demand" | "spot";

/** Why a pool launches fewer instances than requested. */
export type Shortage = { readonly code: string; readonly message: string };

/**
 * How many of `wanted` instances a pool can launch, and why not all. This fleet already uses `taken` addresses of its
 * subnet.
 */
export function roomIn(
  world: FakeAwsState,
  plan: LaunchPlan,
  capacityType: CapacityType,
  { faults }: CallContext,
  wanted: number,
  taken: number,
): { readonly count: number; readonly shortage?: Shortage; readonly reservation?: string } {
  const { instanceType, subnet } = plan;
  if (!(world.types.get(instanceType)?.SupportedUsageClasses ?? ["on-demand", "spot"]).includes(capacityType)) {
    const message = `Your requested instance type (${instanceType}) is not supported as ${capacityType} in your requested Availability Zone (${subnet.zone}).`;
    return { count: 0, shortage: { code: "InvalidFleetConfiguration", message } };
  }
  const free = subnet.freeAddresses - taken;
  if (free < 1) {
    const message = `There are not enough free addresses in subnet '${subnet.id}' to satisfy the requested number of instances.`;
    return { count: 0, shortage: { code: "InsufficientFreeAddressesInSubnet", message } };
  }
  const target = plan.data.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId;
  if (target !== undefined) return roomInReservation(world, target, instanceType, subnet.zone, Math.min(wanted, free));

  const empty = faults.find((fault) => fault.ice && isPool(fault.ice, instanceType, subnet.zone, capacityType));
  const left = empty ? Math.max(0, (empty.ice?.available ?? 0) - empty.taken) : wanted;
  const count = Math.min(wanted, free, left);
  if (empty && left < wanted) {
    empty.taken += count;
    world.faults.hit(empty);
    const usual = capacityType === "spot" ? noSpot() : insufficient(instanceType, subnet.zone);
    return { count, shortage: { code: empty.ice?.code ?? usual.code, message: empty.ice?.message ?? usual.message } };
  }
  if (empty) empty.taken += count;
  if (count === wanted) return { count };
  const message = `There are not enough free addresses in subnet '${subnet.id}' to satisfy the requested number of instances.`;
  return { count, shortage: { code: "InsufficientFreeAddressesInSubnet", message } };
}

function roomInReservation(world: FakeAwsState, id: string, instanceType: string, zone: string, wanted: number): ReturnType<typeof roomIn> {
  const reservation = world.capacityReservations.find(({ CapacityReservationId }) => CapacityReservationId === id);
  if (reservation?.State !== "active" || reservation.InstanceType !== instanceType || reservation.AvailabilityZone !== zone) {
    const message = `The capacity reservation '${id}' does not exist, is not active, or does not match the instance type or zone.`;
    return { count: 0, shortage: { code: "InvalidCapacityReservationId.NotFound", message } };
  }
  const available = reservation.AvailableInstanceCount ?? 0;
  const count = Math.min(wanted, available);
  reservation.AvailableInstanceCount = available - count;
  if (count === wanted) return { count, reservation: id };
  const message = `The requested reservation ${id} does not have sufficient compatible and available capacity for this request.`;
  return { count, reservation: id, shortage: { code: "ReservationCapacityExceeded", message } };
}

/** Returns instances to a reservation when the fleet launches nothing. */
export function giveBack(world: FakeAwsState, id: string | undefined, count: number): void {
  const reservation = world.capacityReservations.find(({ CapacityReservationId }) => id !== undefined && CapacityReservationId === id);
  if (reservation) reservation.AvailableInstanceCount = (reservation.AvailableInstanceCount ?? 0) + count;
}

const isPool = (empty: EmptyPool, instanceType: string, zone: string, capacityType: CapacityType): boolean =>
  (empty.instanceType === undefined || empty.instanceType === instanceType) &&
  (empty.zone === undefined || empty.zone === zone) &&
  (empty.capacityType === undefined || empty.capacityType === capacityType);

export const insufficient = (instanceType: string, zone: string): Shortage => ({
  code: "InsufficientInstanceCapacity",
  message: `We currently do not have sufficient ${instanceType} capacity in the Availability Zone you requested (${zone}). Our system will be working on provisioning additional capacity.`,
});

const noSpot = (): Shortage => ({
  code: "InsufficientInstanceCapacity",
  message: "There is no Spot capacity available that matches your request.",
});
