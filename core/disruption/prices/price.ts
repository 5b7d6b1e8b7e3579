// Prices of nodes and of planned NodeClaims, USD per hour, from the offerings of their NodePool's instance types.
// Nothing here knows candidates or commands.

import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { CAPACITY_RESERVATION_ID, CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from "../../model/labels.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { perHour } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { NEW_PAID_SHARE, paidTypes, RUNNING_PAID_SHARE } from "../../offerings/paid.ts";
import { admitsOffering, offeringRequirementsOf } from "../../requirements/offerings.ts";
import type { Requirements } from "../../requirements/requirements.ts";

/**
 * USD per hour of a node with these labels: the price of its own offering, available or not; 0 when the offering is
 * unknown (karpenter: pkg/controllers/disruption/types.go, resolveNodePrice).
 */
export function nodePrice(labels: Readonly<Record<string, string>>, instanceTypes: readonly InstanceType[]): number {
  const type = instanceTypes.find(({ name }) => name === labels[INSTANCE_TYPE]);
  const offering = type?.offerings.find(
    ({ zone, capacityType, reservationId }) =>
      zone === labels[ZONE] &&
      capacityType === labels[CAPACITY_TYPE] &&
      (capacityType !== "reserved" || reservationId === labels[CAPACITY_RESERVATION_ID]),
  );
  return offering?.price ?? 0;
}

/** What a machine costs now, USD per hour: its price, or next to nothing where a commitment pays for it. */
export function marginalPrice(price: number, isPaidFor: boolean): number {
  return isPaidFor ? price * RUNNING_PAID_SHARE : price;
}

/**
 * The instance types that a planned NodeClaim may be launched as, with the prices that it was planned by: those of its
 * NodePool, or what the commitments that pay for it leave of them.
 */
export function typesOfPlanned({ nodePool, paidFor }: PlannedNodeClaim, { instanceTypes, paid = [] }: Snapshot): readonly InstanceType[] {
  const types = instanceTypes.get(nodePool) ?? [];
  if (paidFor === undefined) return types;
  return paidTypes(
    types,
    paidFor,
    paid.map(({ of }) => of),
  );
}

/** The price of a planned NodeClaim as people know it: of the instance, and who pays. */
export function plannedPriceText({ pricePerHour, paidFor }: Pick<PlannedNodeClaim, "pricePerHour" | "paidFor">): string {
  if (paidFor === undefined) return perHour(pricePerHour);
  return `${perHour(pricePerHour / NEW_PAID_SHARE)}, which a Savings Plan or reserved instance pays for`;
}

/** The available offerings of a type that a NodeClaim with these requirements may be launched as. */
export function launchOfferings(type: InstanceType, requirements: Requirements): readonly Offering[] {
  const onOfferings = offeringRequirementsOf(requirements);
  return type.offerings.filter((offering) => offering.available && admitsOffering(onOfferings, offering));
}

/** USD per hour of the cheapest available offering that the requirements admit; Infinity without one. */
export function cheapestLaunchPrice(type: InstanceType, requirements: Requirements): number {
  return Math.min(...launchOfferings(type, requirements).map(({ price }) => price));
}

/**
 * USD per hour of the most expensive offering of the capacity type that a launch tries first (reserved, spot,
 * on-demand); Infinity without one. A type that is cheaper by this price is cheaper in whichever zone it is launched
 * (karpenter: pkg/cloudprovider/types.go, Offerings.WorstLaunchPrice).
 */
export function worstLaunchPrice(type: InstanceType, requirements: Requirements): number {
  const offerings = launchOfferings(type, requirements);
  for (const wanted of ["reserved", "spot", "on-demand"] as const) {
    const prices = offerings.filter(({ capacityType }) => capacityType === wanted).map(({ price }) => price);
    if (prices.length > 0) return Math.max(...prices);
  }
  return Number.POSITIVE_INFINITY;
}
