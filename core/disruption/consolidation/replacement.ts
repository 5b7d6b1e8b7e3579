import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_TYPE } from "../../model/labels.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { has, requirement } from "../../requirements/requirement.ts";
import { intersectAll, type Requirements, requirementsFrom, serializeAll } from "../../requirements/requirements.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { type Candidate, instanceTypeNameOf } from "../cluster/candidate.ts";
import { cheapestLaunchPrice, worstLaunchPrice } from "../prices/price.ts";

/** A planned claim with the types and requirements that it names, ready to be narrowed. */
export interface Replacement {
  readonly planned: PlannedNodeClaim;
  readonly requirements: Requirements;
  readonly types: readonly InstanceType[];
}

/** The planned claim with its types looked up, cheapest first; types that the pool has lost meanwhile are left out. */
export function replacementFrom(planned: PlannedNodeClaim, poolTypes: readonly InstanceType[]): Replacement {
  const byName = new Map(poolTypes.map((type) => [type.name, type]));
  const types = planned.instanceTypes.flatMap((name) => byName.get(name) ?? []);
  return { planned, requirements: requirementsFrom(planned.requirements), types };
}

/** Whether the replacement's requirements admit the capacity type; whether an offering is to be had is not looked at. */
export function allowsCapacityType({ requirements }: Replacement, capacityType: string): boolean {
  const wanted = requirements.get(CAPACITY_TYPE);
  return wanted === undefined || has(wanted, capacityType);
}

/** The replacement with capacity-type In [capacityType], and without the types that are not to be had so. */
export function pinnedTo(replacement: Replacement, capacityType: string): Replacement {
  const pin = new Map([[CAPACITY_TYPE, requirement(CAPACITY_TYPE, "In", [capacityType])]]);
  const requirements = intersectAll(replacement.requirements, pin);
  const types = replacement.types.filter((type) => cheapestLaunchPrice(type, requirements) < Number.POSITIVE_INFINITY);
  return { ...replacement, requirements, types };
}

/** A key for which too few different values are left among the types; undefined when every minValues is met. */
export function minValuesShortfall({ requirements, types }: Replacement): Blocked | undefined {
  for (const { key, minValues } of requirements.values()) {
    if (minValues === undefined) continue;
    const values = new Set<string>();
    for (const type of types) {
      for (const item of type.requirements)
        if (item.key === key && item.operator === "In") for (const value of item.values ?? []) values.add(value);
    }
    const wanted = requirements.get(key);
    const left = [...values].filter((value) => wanted === undefined || has(wanted, value)).length;
    if (left < minValues) return { reason: "MinValues", key, wanted: minValues, left };
  }
  return undefined;
}

/** Keeps the types whose price by `priceOf` is under `limit` (USD per hour, strictly); says why when that leaves nothing to launch. */
export function underPrice(
  replacement: Replacement,
  limit: number,
  priceOf: (type: InstanceType, requirements: Requirements) => number = worstLaunchPrice,
): Replacement | Blocked {
  const narrowed = { ...replacement, types: replacement.types.filter((type) => priceOf(type, replacement.requirements) < limit) };
  if (narrowed.types.length === 0) return { reason: "NotCheaper" };
  return minValuesShortfall(narrowed) ?? narrowed;
}

/** Types cheapest first, and the claim's price, as its requirements are now. Of the same price, the name decides. */
export function plannedFrom({ planned, requirements, types }: Replacement): PlannedNodeClaim {
  const priced = types.map((type) => ({ name: type.name, price: cheapestLaunchPrice(type, requirements) }));
  priced.sort((a, b) => a.price - b.price || (a.name < b.name ? -1 : 1));
  return {
    ...planned,
    requirements: serializeAll(requirements),
    instanceTypes: priced.map(({ name }) => name),
    pricePerHour: priced[0]?.price ?? planned.pricePerHour,
  };
}

/** What a planned claim will be bought as: the first that it allows of reserved, spot, on-demand. */
export function capacityTypeOfPlanned({ requirements }: PlannedNodeClaim): "reserved" | "spot" | "on-demand" {
  const values = requirements.find(({ key, operator }) => key === CAPACITY_TYPE && operator === "In")?.values ?? ["spot"];
  return (["reserved", "spot"] as const).find((type) => values.includes(type)) ?? "on-demand";
}

/**
 * A replacement of a type that is being taken away is only worth it when it costs less than each such node: otherwise keeping one
 * of them would have done, and nodes would go round in circles.
 */
export function withoutSameType(replacement: Replacement, candidates: readonly Candidate[]): Replacement | Blocked {
  const offered = new Set(replacement.types.map(({ name }) => name));
  const same = candidates.filter((candidate) => offered.has(instanceTypeNameOf(candidate)));
  return same.length === 0 ? replacement : underPrice(replacement, Math.min(...same.map(({ pricePerHour }) => pricePerHour)));
}
