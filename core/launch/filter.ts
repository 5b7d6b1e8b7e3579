import type { CapacityType, InstanceType, Offering } from "../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, WELL_KNOWN_LABELS } from "../model/labels.ts";
import { fits, type Resources } from "../model/quantity.ts";
import { allocatableOf } from "../offerings/overhead.ts";
import { unavailableText } from "../offerings/unavailable-text.ts";
import { admitsOffering, offeringRequirementsOf } from "../requirements/offerings.ts";
import { has, type Requirement } from "../requirements/requirement.ts";
import { compatible, type Requirements, requirementsFrom } from "../requirements/requirements.ts";
import type { LaunchCandidate } from "./launch-candidate.ts";
import { reservedFirst, unreserved } from "./reserved.ts";

/**
 * Maximum number of instance types in one CreateFleet
 * (karpenter-provider-aws: pkg/providers/instance/instance.go, maxInstanceTypes).
 */
const MAX_LAUNCH_TYPES = 60;

/** The candidates to ask EC2 for, or which step left none. */
type Filtered =
  | { readonly ok: { readonly candidates: readonly LaunchCandidate[]; readonly capacityType: CapacityType } }
  | { readonly none: string };

/**
 * Selects the instance types to ask for, cheapest first, and the capacity type: reserved, else spot, if the NodeClaim
 * allows it and any is left, else on-demand. Steps: compatible and available; reserved first; minValues; no exotic
 * types; no spot above the on-demand price; truncation. `none` says which step left nothing: the NodeClaim has no
 * capacity (karpenter-provider-aws: pkg/providers/instance/instance.go, DefaultProvider.filterInstanceTypes).
 */
export function filterForLaunch(
  types: readonly InstanceType[],
  requirements: Requirements,
  requests: Resources,
  { relaxMinValues = false }: { readonly relaxMinValues?: boolean } = {},
): Filtered {
  const usable = compatibleTypes(types, requirements, requests, ({ available }) => available);
  if (usable.length === 0) return { none: noneText(types, requirements, requests) };
  const minValues = relaxMinValues ? [] : minValuesOf(requirements);
  let paid = reservedFirst(usable);
  // minValues are more important than paid reservations: the planner has left other capacity in the NodeClaim for them.
  if (unmet(paid, minValues) !== undefined) paid = unreserved(usable);
  let candidates = minValues.length > 0 ? paid : ordinaryFirst(paid);
  if (minValues.length === 0) candidates = withoutExpensiveSpot(candidates, requirements);
  candidates = candidates.toSorted((a, b) => cheapest(a.offerings) - cheapest(b.offerings) || (a.type.name < b.type.name ? -1 : 1));
  candidates = candidates.slice(0, MAX_LAUNCH_TYPES);
  const none = unmet(candidates, minValues);
  if (none !== undefined) return { none };
  const sold = new Set(candidates.flatMap(({ offerings }) => offerings.map(({ capacityType }) => capacityType)));
  const capacityType = (["reserved", "spot"] as const).find((kind) => sold.has(kind)) ?? "on-demand";
  return { ok: { candidates, capacityType } };
}

/** Why no type is left: what EC2 has said about those that would do. */
function noneText(types: readonly InstanceType[], requirements: Requirements, requests: Resources): string {
  const none = "no instance type has an available offering that meets the requirements and holds the requests";
  const unavailable = compatibleTypes(types, requirements, requests, ({ unavailableUntil }) => unavailableUntil !== undefined);
  if (unavailable.length === 0) return none;
  const byPrice = unavailable.toSorted((a, b) => cheapest(a.offerings) - cheapest(b.offerings));
  return `${none}: ${unavailableText(byPrice.map(({ type: { name }, offerings }) => ({ name, offerings })))}`;
}

/** The types that meet the requirements and hold the requests, with the offerings that are `wanted`. */
function compatibleTypes(
  types: readonly InstanceType[],
  requirements: Requirements,
  requests: Resources,
  wanted: (offering: Offering) => boolean,
): readonly LaunchCandidate[] {
  const candidates: LaunchCandidate[] = [];
  const names = requirements.get(INSTANCE_TYPE);
  const onOfferings = offeringRequirementsOf(requirements);
  for (const type of types) {
    // A NodeClaim lists its instance types: most types drop out here, before any set is built.
    if (names !== undefined && !has(names, type.name)) continue;
    const offerings = type.offerings.filter((offering) => wanted(offering) && admitsOffering(onOfferings, offering));
    if (offerings.length === 0) continue;
    if (!compatible(requirements, requirementsFrom(type.requirements), WELL_KNOWN_LABELS)) continue;
    if (fits(requests, allocatableOf(type))) candidates.push({ type, offerings });
  }
  return candidates;
}

const ACCELERATORS = ["nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron"];

/** Without bare metal and accelerated types, unless no other type is left. */
function ordinaryFirst(candidates: readonly LaunchCandidate[]): readonly LaunchCandidate[] {
  const ordinary = candidates.filter(({ type }) => {
    const metal = type.name.slice(type.name.indexOf(".") + 1).startsWith("metal");
    return !metal && ACCELERATORS.every((name) => Number(type.capacity[name] ?? 0) === 0);
  });
  return ordinary.length > 0 ? ordinary : candidates;
}

/**
 * Without spot offerings that cost more than the cheapest on-demand offering. Applies when the NodeClaim allows both,
 * and to known prices: the on-demand price in place of an unknown one would leave the cheapest type alone.
 */
function withoutExpensiveSpot(candidates: readonly LaunchCandidate[], requirements: Requirements): readonly LaunchCandidate[] {
  const wanted = requirements.get(CAPACITY_TYPE);
  if (wanted !== undefined && !(has(wanted, "spot") && has(wanted, "on-demand"))) return candidates;
  const onDemand = candidates.flatMap(({ offerings }) => offerings.filter(({ capacityType }) => capacityType === "on-demand"));
  if (onDemand.length === 0) return candidates;
  const ceiling = cheapest(onDemand);
  return candidates
    .map(({ type, offerings }) => ({
      type,
      offerings: offerings.filter((offering) => offering.capacityType !== "spot" || isAssumed(offering) || offering.price <= ceiling),
    }))
    .filter(({ offerings }) => offerings.length > 0);
}

const isAssumed = ({ priceAssumed, priceOverlaid }: Offering): boolean => priceAssumed === true && !priceOverlaid;

const minValuesOf = (requirements: Requirements): readonly Requirement[] =>
  [...requirements.values()].filter(({ minValues }) => minValues !== undefined);

/** The first minValues that the candidates do not reach, in words. */
function unmet(candidates: readonly LaunchCandidate[], minValues: readonly Requirement[]): string | undefined {
  for (const item of minValues) {
    const { key, minValues: least = 0 } = item;
    const offered = distinctValues(candidates, item);
    if (offered < least) return `minValues of ${key} asks for ${least} different values, the instance types left offer ${offered}`;
  }
  return undefined;
}

/** Values that the NodeClaim allows: it is launched with no other. */
function distinctValues(candidates: readonly LaunchCandidate[], item: Requirement): number {
  const values = new Set<string>();
  for (const { type } of candidates) {
    const own = type.requirements.find(({ key }) => key === item.key)?.values ?? [];
    for (const value of own) if (has(item, value)) values.add(value);
  }
  return values.size;
}

function cheapest(offerings: readonly Offering[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { price } of offerings) if (price < least) least = price;
  return least;
}
