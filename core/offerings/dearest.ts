import { oncePer } from "../lib/once-per.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { CAPACITY_RESERVATION_ID, CAPACITY_TYPE, INSTANCE_TYPE, WELL_KNOWN_LABELS, ZONE } from "../model/labels.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { admitsOffering, type OfferingRequirements, offeringRequirementsOf } from "../requirements/offerings.ts";
import { compatible, type Requirements, requirementsFrom } from "../requirements/requirements.ts";

/**
 * USD per hour of the most expensive offering that some requirements allow; 0 without a price. What is unavailable now
 * counts, because it may be available again at the launch.
 */
export function dearestOffering({ offerings }: InstanceType, requirements: OfferingRequirements): number {
  return offerings.reduce((most, offering) => (admitsOffering(requirements, offering) ? Math.max(most, offering.price) : most), 0);
}

const requirementsOf: (type: InstanceType) => Requirements = oncePer(({ requirements }) => requirementsFrom(requirements));

const typesByName: (types: readonly InstanceType[]) => ReadonlyMap<string, InstanceType> = oncePer(
  (types) => new Map(types.map((type) => [type.name, type])),
);

/** What is known of a machine: the labels of its node or NodeClaim, and the requirements of its NodeClaim. */
interface PricedMachine {
  readonly labels: Readonly<Record<string, string>>;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
}

/**
 * USD per hour that a machine costs at most: the price of its own offering when its labels name it, otherwise of the
 * most expensive that its NodeClaim may still be launched as. 0 when no price is known.
 */
export function mostPerHour({ labels, requirements }: PricedMachine, types: readonly InstanceType[]): number {
  const [zone, capacityType] = [labels[ZONE], labels[CAPACITY_TYPE]];
  const own = typesByName(types).get(labels[INSTANCE_TYPE] ?? "");
  if (own !== undefined && zone !== undefined && capacityType !== undefined) {
    const offering = own.offerings.find(
      (one) =>
        one.zone === zone &&
        one.capacityType === capacityType &&
        (capacityType !== "reserved" || one.reservationId === labels[CAPACITY_RESERVATION_ID]),
    );
    return offering?.price ?? 0;
  }
  const wanted = requirementsFrom(requirements);
  // A NodeClaim of ours lists the types that suit it; only one of a static pool or of a user does not.
  const listed = requirements.find(({ key, operator }) => key === INSTANCE_TYPE && operator === "In")?.values;
  const possible =
    listed?.flatMap((name) => typesByName(types).get(name) ?? []) ??
    types.filter((type) => compatible(wanted, requirementsOf(type), WELL_KNOWN_LABELS));
  const onOfferings = offeringRequirementsOf(wanted);
  return possible.reduce((most, type) => Math.max(most, dearestOffering(type, onOfferings)), 0);
}
