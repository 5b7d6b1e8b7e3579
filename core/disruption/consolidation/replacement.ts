import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_TYPE } from "../../model/labels.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { CostSettings } from "../../model/prices.ts";
import { parseResources } from "../../model/quantity.ts";
import { surplusPrice } from "../../offerings/node-cost.ts";
import { has, requirement } from "../../requirements/requirement.ts";
import { intersectAll, type Requirements, requirementsFrom, serializeAll } from "../../requirements/requirements.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { type Candidate, instanceTypeNameOf } from "../cluster/candidate.ts";
import { cheapestLaunchPrice, worstLaunchPrice } from "../prices/price.ts";

/** A planned NodeClaim with its instance types and requirements looked up, so that both can be narrowed. */
export interface Replacement {
  readonly planned: PlannedNodeClaim;
  readonly requirements: Requirements;
  readonly types: readonly InstanceType[];
  /** Surplus credits of the planned requests on a type, USD per hour. */
  readonly surplusOf: (type: InstanceType) => number;
  /** Its share of the surplus credits that the candidates cost, USD per hour. */
  readonly spareSurplus: number;
}

/**
 * The planned claim with its types looked up, in the order of the plan; types that the pool no longer offers are left
 * out.
 */
export function replacementFrom(
  planned: PlannedNodeClaim,
  poolTypes: readonly InstanceType[],
  costs: CostSettings,
  spareSurplus: number,
): Replacement {
  const byName = new Map(poolTypes.map((type) => [type.name, type]));
  const types = planned.instanceTypes.flatMap((name) => byName.get(name) ?? []);
  const cpu = parseResources(planned.requests)["cpu"] ?? 0;
  const surplusOf = (type: InstanceType): number => surplusPrice(type, cpu, costs);
  return { planned, requirements: requirementsFrom(planned.requirements), types, surplusOf, spareSurplus };
}

/** Whether the replacement's requirements admit the capacity type; available offerings are not checked. */
export function allowsCapacityType({ requirements }: Replacement, capacityType: string): boolean {
  const wanted = requirements.get(CAPACITY_TYPE);
  return wanted === undefined || has(wanted, capacityType);
}

/** The replacement with capacity-type In [capacityType], without the types that have no available offering of it. */
export function pinnedTo(replacement: Replacement, capacityType: string): Replacement {
  const pin = new Map([[CAPACITY_TYPE, requirement(CAPACITY_TYPE, "In", [capacityType])]]);
  const requirements = intersectAll(replacement.requirements, pin);
  const types = replacement.types.filter((type) => cheapestLaunchPrice(type, requirements) < Number.POSITIVE_INFINITY);
  return { ...replacement, requirements, types };
}

/**
 * Set when the types have too few different values of a key for its minValues; undefined when every minValues is met.
 */
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

/**
 * The replacement with only the types whose price by `priceOf` is below `limit` (USD per hour), also with the surplus
 * credits that the candidates do not cost; a reason when too few remain.
 */
export function underPrice(
  replacement: Replacement,
  limit: number,
  priceOf: (type: InstanceType, requirements: Requirements) => number = worstLaunchPrice,
): Replacement | Blocked {
  const { requirements, surplusOf, spareSurplus } = replacement;
  const isCheaper = (type: InstanceType): boolean => priceOf(type, requirements) + Math.max(0, surplusOf(type) - spareSurplus) < limit;
  const types = replacement.types.filter(isCheaper);
  const narrowed = { ...replacement, types };
  if (narrowed.types.length === 0) return { reason: "NotCheaper" };
  return minValuesShortfall(narrowed) ?? narrowed;
}

/**
 * The planned claim with the narrowed requirements, its types cheapest first, and its price. Of equal prices the name
 * decides.
 */
export function plannedFrom({ planned, requirements, types, surplusOf }: Replacement): PlannedNodeClaim {
  const priced = types.map((type) => ({ name: type.name, price: cheapestLaunchPrice(type, requirements), surplus: surplusOf(type) }));
  priced.sort((a, b) => a.price - b.price || (a.name < b.name ? -1 : 1));
  const { surplusPerHour: _, ...rest } = planned;
  const surplusPerHour = priced[0]?.surplus ?? 0;
  return {
    ...rest,
    requirements: serializeAll(requirements),
    instanceTypes: priced.map(({ name }) => name),
    pricePerHour: priced[0]?.price ?? planned.pricePerHour,
    ...(surplusPerHour > 0 && { surplusPerHour }),
  };
}

/** The capacity type that a launch of the planned claim tries first: reserved, spot or on-demand. */
export function capacityTypeOfPlanned({ requirements }: Pick<PlannedNodeClaim, "requirements">): "reserved" | "spot" | "on-demand" {
  const values = requirements.find(({ key, operator }) => key === CAPACITY_TYPE && operator === "In")?.values ?? ["spot"];
  return (["reserved", "spot"] as const).find((type) => values.includes(type)) ?? "on-demand";
}

/**
 * The replacement with only types that cost less than each candidate of a type that it offers: otherwise keeping that
 * candidate would do, and nodes would replace each other again and again
 * (karpenter: pkg/controllers/disruption/multinodeconsolidation.go, filterOutSameInstanceType).
 */
export function withoutSameType(replacement: Replacement, candidates: readonly Candidate[]): Replacement | Blocked {
  const offered = new Set(replacement.types.map(({ name }) => name));
  const same = candidates.filter((candidate) => offered.has(instanceTypeNameOf(candidate)));
  return same.length === 0 ? replacement : underPrice(replacement, Math.min(...same.map(({ pricePerHour }) => pricePerHour)));
}
