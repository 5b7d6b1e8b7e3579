import { oncePer } from "../../lib/once-per.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { NodeSelectorRequirementWithMinValues } from "../../model/node-pool.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { formatResources, type Resources } from "../../model/quantity.ts";
import { podKey } from "../../pods/predicates.ts";
import { allowsAbsent, has, type Requirement, requirement } from "../../requirements/requirement.ts";
import { type Requirements, serializeAll } from "../../requirements/requirements.ts";
import { isRestrictedLabel } from "../../requirements/validation.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import { hasBit, overlap } from "../tables/bitset.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import { addTo, type ResourceAxis } from "../tables/resource-axis.ts";
import { EBS_VOLUMES } from "../tables/resource-columns.ts";
import { allowedValues, neededForMinValues } from "./min-values.ts";
import type { PlannedClaim } from "./planned-claim.ts";
import { withReservations } from "./reservations.ts";

/**
 * Instance types that one claim may name
 * (karpenter: pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, MaxInstanceTypes).
 */
const MAX_INSTANCE_TYPES = 600;

/** Types that the claim can be launched as under its final requirements, cheapest first, at most MAX_INSTANCE_TYPES. */
function typesByPrice({ template, types }: PlannedClaim, set: RequirementSet): readonly number[] {
  const admitted = template.table.admitted(set);
  const maxListed = template.minValues.length > 0 ? Number.POSITIVE_INFINITY : MAX_INSTANCE_TYPES;
  const all: number[] = [];
  for (const t of template.table.prices(set).order) {
    if (hasBit(types, t) && hasBit(admitted, t) && all.push(t) >= maxListed) break;
  }
  if (all.length <= MAX_INSTANCE_TYPES) return all;
  const kept = new Set(neededForMinValues(template, all, set));
  for (const t of all) {
    if (kept.size >= MAX_INSTANCE_TYPES) break;
    kept.add(t);
  }
  return all.filter((t) => kept.has(t));
}

/** Adds the capacity types that are available now, because the launch takes them from the claim and does not guess. */
function withCapacityTypes(set: RequirementSet, { template, types }: PlannedClaim, sets: RequirementSets): RequirementSet {
  const present = template.table.capacityTypes(set, types);
  return sets.join(set, sets.intern(new Map([[CAPACITY_TYPE, requirement(CAPACITY_TYPE, "In", present)]]))) ?? set;
}

/**
 * USD per hour of the cheapest type that the claim may be launched as, surplus credits included; Infinity without one.
 */
export function priceOf(claim: PlannedClaim, sets: RequirementSets): number {
  const { template, types } = claim;
  if (!template.table.hasReserved) return claim.price;
  const set = withReservations(claim, sets);
  const admitted = template.table.admitted(set);
  const cpu = cpuOf(claim);
  const cheapest = template.ranked(set).find(({ type, maxCpu }) => cpu <= maxCpu && hasBit(types, type) && hasBit(admitted, type));
  return cheapest?.price ?? Number.POSITIVE_INFINITY;
}

/** Milli-cpu that the claim's pods request. */
function cpuOf({ used, template }: PlannedClaim): number {
  return used[template.cpu] ?? 0;
}

/**
 * The types without the burstable ones that cost more than another type because of their surplus credits, although
 * their price is lower: a launch takes the lowest price. All types where minValues needs those.
 */
function withoutCostlyBursts(claim: PlannedClaim, set: RequirementSet, types: readonly number[]): readonly number[] {
  const { template, minValuesRelaxed } = claim;
  const cpu = cpuOf(claim);
  const surplus = types.map((t) => template.costs.surplus(t, cpu));
  if (surplus.every((amount) => amount === 0)) return types;
  const prices = types.map((t) => template.table.prices(set).byType[t] ?? Number.POSITIVE_INFINITY);
  const billed = prices.map((price, i) => price + (surplus[i] ?? 0));
  const best = billed.indexOf(Math.min(...billed));
  const kept = types.filter((_, i) => i === best || surplus[i] === 0 || (prices[i] ?? 0) > (prices[best] ?? 0));
  const isEnough =
    template.minValues.length === 0 ||
    (!minValuesRelaxed && neededForMinValues(template, kept, set).length === neededForMinValues(template, types, set).length);
  return isEnough ? kept : types;
}

/** A finished claim in the form of the plan. */
export function assembleClaim(claim: PlannedClaim, { axis, sets }: Pick<SchedulingProblem, "axis" | "sets">): PlannedNodeClaim {
  const { template } = claim;
  const set = withCapacityTypes(withReservations(claim, sets), claim, sets);
  const types = withoutCostlyBursts(claim, set, typesByPrice(claim, set));
  const [cheapest = -1] = types;
  const surplusPerHour = template.costs.surplus(cheapest, cpuOf(claim));
  const requests = Float64Array.from(claim.used);
  addTo(requests, leastDaemons(claim, axis));
  return {
    nodePool: template.name,
    requirements: claim.minValuesRelaxed ? serializeAll(loweredMinValues(claim, set, types)) : serialized(set.requirements),
    taints: template.taints,
    labels: pinnedLabels(claim.set.requirements),
    instanceTypes: types.map((t) => template.table.types[t]?.name ?? ""),
    requests: formatResources(withoutVolumes(axis.resources(requests))),
    pods: claim.pods.map(podKey).sort(),
    pricePerHour: template.table.prices(set).byType[cheapest] ?? Number.POSITIVE_INFINITY,
    ...(surplusPerHour > 0 && { surplusPerHour }),
    ...(claim.minValuesRelaxed ? { minValuesRelaxed: true } : {}),
    ...(template.paidFor !== undefined && { paidFor: template.paidFor }),
  };
}

/** A NodeClaim requests no volumes: its instance types are those that attach them. */
function withoutVolumes({ [EBS_VOLUMES]: _, ...requests }: Resources): Resources {
  return requests;
}

const serialized: typeof serializeAll = oncePer(serializeAll);

/**
 * The requirements with each minValues lowered to what the types have, because the API server refuses a NodeClaim that
 * asks for more values than it lists
 * (karpenter: pkg/controllers/provisioning/scheduling/nodeclaim.go, NodeClaim.tryVolumeAlternative).
 */
function loweredMinValues({ template }: PlannedClaim, set: RequirementSet, types: readonly number[]): Requirements {
  const lowered = [...set.requirements].map(([key, item]): readonly [string, Requirement] => {
    const { minValues, ...rest } = item;
    if (minValues === undefined) return [key, item];
    const { size } = new Set(types.flatMap((t) => allowedValues(template, t, key, set)));
    return [key, size === 0 ? rest : { ...rest, minValues: Math.min(minValues, size) }];
  });
  return new Map(lowered);
}

/** By resource, the lowest overhead of DaemonSet pods on any of the claim's types, in milli-units. */
function leastDaemons({ template, types }: PlannedClaim, axis: ResourceAxis): Float64Array {
  const vectors = template.daemonGroups.flatMap((group) => (overlap(group.types, types) ? [axis.vector(group.overhead)] : []));
  return Float64Array.from(axis.names, (_, r) => (vectors.length === 0 ? 0 : Math.min(...vectors.map((vector) => vector[r] ?? 0))));
}

/**
 * Labels that the node must get because no instance type brings them: custom keys of the requirements. Of several
 * allowed values the first in text order is used; where any value is allowed, a number. Karpenter picks that one at
 * random, but a plan must not differ from run to run.
 */
const pinnedLabels: (set: Requirements) => Readonly<Record<string, string>> = oncePer((set) => {
  const labels: Record<string, string> = {};
  for (const [key, item] of [...set].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (WELL_KNOWN_LABELS.has(key) || isRestrictedLabel(key)) continue;
    const value = valueFor(item);
    if (value !== undefined) labels[key] = value;
  }
  return labels;
});

/** A value that meets the requirement; undefined where the label may be absent. */
function valueFor(item: Requirement): string | undefined {
  if (!item.complement) return [...item.values].sort()[0];
  if (allowsAbsent(item)) return undefined;
  const last = (item.lte ?? 0n) - BigInt(item.values.size);
  const first = item.gte ?? (last < 0n ? 0n : last);
  for (let n = first; n <= first + BigInt(item.values.size); n++) if (has(item, String(n))) return String(n);
  // NotIn excludes texts: where it excludes every integer within the bounds, the first is spelt with zeros in front.
  let text = String(first);
  for (let zeros = 0; zeros < item.values.size && !has(item, text); zeros++) text = `0${text}`;
  return has(item, text) ? text : undefined;
}

/** spec.requirements of the NodeClaim: the plan's requirements and the chosen instance types, with minValues kept. */
export function claimRequirements(claim: PlannedNodeClaim): readonly NodeSelectorRequirementWithMinValues[] {
  const own = claim.requirements.filter(({ key }) => key !== INSTANCE_TYPE);
  const minValues = claim.requirements.find(({ key, minValues: min }) => key === INSTANCE_TYPE && min !== undefined)?.minValues;
  return [...own, { key: INSTANCE_TYPE, operator: "In", values: claim.instanceTypes, ...(minValues === undefined ? {} : { minValues }) }];
}
