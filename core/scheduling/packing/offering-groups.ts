import { offeringRequirementsOf } from "../../requirements/offerings.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, hasBit } from "../tables/bitset.ts";
import { readRoom } from "../tables/frontier.ts";
import { admits } from "../tables/offering-table.ts";
import { hasRoom } from "../tables/resource-axis.ts";
import { risingOrder } from "../tables/rising-order.ts";
import type { PlacementKind } from "./demand.ts";
import { largestOf, sharedLabels } from "./shared-labels.ts";

/**
 * A node that can be launched: an instance type at its lowest price in an offering group. A burstable type is one
 * option for each step of its price, the cheaper ones with less cpu.
 */
export interface NodeOption {
  /** Index of the instance type in the template's table. */
  readonly type: number;
  /** USD per hour, surplus credits included. */
  readonly price: number;
  /** What the node costs beside its instance, USD per hour. */
  readonly nodeCost: number;
  /** Room for pods, by resource. */
  readonly room: Float64Array;
}

/**
 * Node options of one pool that serve the same kinds of pods together. A bin packing problem with variable bin sizes
 * has one such group for each set of kinds: for example, arm64 offerings in zone-a that serve kind 0 alone, and amd64
 * offerings that serve 0 and 1. Values of labels that no instance type brings are groups too: nodes of the label
 * `team: red` serve pods that want red, and pods that do not care.
 */
export interface OfferingGroup {
  readonly template: Template;
  /** Indexes of the PlacementKinds that nodes of these options may take. */
  readonly kinds: readonly number[];
  /** By rising price, without options that have no more of any resource than a cheaper one. */
  readonly options: readonly NodeOption[];
}

/** Offering groups of a packing problem. */
interface OfferingGroups {
  readonly groups: readonly OfferingGroup[];
  /** False when kinds may share nodes in more ways than there are groups. */
  readonly areAll: boolean;
}

/** By template: those of its types that may be proposed. */
export type Narrowed = ReadonlyMap<Template, Bitset>;

/**
 * All node options for some kinds of pods, grouped by pool and by the kinds that they serve. `templates` are the pools
 * to look at, by default those of all kinds. Free offerings are left out, because the shadow prices of their
 * room would be 0.
 * @param narrowed the only types of some templates
 */
export function offeringGroupsFor(
  kinds: readonly PlacementKind[],
  width: number,
  templates: Iterable<Template> = new Set(kinds.flatMap(({ pools }) => pools)),
  narrowed?: Narrowed,
): OfferingGroups {
  const byTemplate = [...templates].map((template) => groupsOf(template, kinds, width, narrowed?.get(template)));
  return { groups: byTemplate.flatMap(({ groups }) => groups), areAll: byTemplate.every(({ areAll }) => areAll) };
}

/** By instance type, the lowest price in an offering that serves all of some kinds. */
interface Priced {
  readonly kinds: readonly number[];
  readonly prices: Float64Array;
}

/** `offeringGroupsFor` for one pool. */
function groupsOf(template: Template, kinds: readonly PlacementKind[], width: number, allowed?: Bitset): OfferingGroups {
  const own = kinds.flatMap(({ sets, needs }, kind) => {
    const set = sets[template.index];
    if (set === undefined) return [];
    return [{ kind, needs, set, types: template.table.admitted(set), offerings: offeringRequirementsOf(set.requirements) }];
  });
  const priced = pricedByKinds(template, own, typesByKinds(template, own, width, allowed));
  const labels = sharedLabels(own.map(({ set }) => set.requirements));
  // Labels have no price, so many groups have the same options.
  const known = new Map<string, readonly NodeOption[]>();
  const optionsOf = (from: readonly Priced[]): readonly NodeOption[] => {
    const text = from.map((group) => group.kinds.join()).join(" ");
    const options = known.get(text) ?? undominatedOptions(template, lowestPrices(from), width);
    known.set(text, options);
    return options;
  };
  const groups = splitByLabels(priced, labels.sets).map(({ served, from }) => ({
    template,
    kinds: served.map((at) => own[at]?.kind ?? 0),
    options: optionsOf(from),
  }));
  return { groups: groups.filter(({ options }) => options.length > 0), areAll: labels.areAll };
}

/** The lowest prices of the types that serve the same kinds in an offering. */
function pricedByKinds(
  { table }: Template,
  kinds: readonly { readonly offerings: ReturnType<typeof offeringRequirementsOf> }[],
  byKinds: ReturnType<typeof typesByKinds>,
): readonly Priced[] {
  const byText = new Map<string, Priced>();
  for (const { offering, prices } of table.offerings) {
    const admitted = kinds.map(({ offerings }) => admits(offerings, offering));
    for (const { served, types } of byKinds) {
      const here = served.filter((at) => admitted[at]);
      if (here.length === 0) continue;
      const text = here.join();
      const known = byText.get(text) ?? { kinds: here, prices: new Float64Array(prices.length).fill(Number.POSITIVE_INFINITY) };
      byText.set(text, known);
      lower(known.prices, types, prices);
    }
  }
  return [...byText.values()];
}

/** Takes over the prices of some types that are lower; free offerings have none. */
function lower(lowest: Float64Array, types: readonly number[], prices: ArrayLike<number>): void {
  for (const type of types) {
    const price = prices[type] ?? Number.POSITIVE_INFINITY;
    if (price > 0 && price < (lowest[type] ?? 0)) lowest[type] = price;
  }
}

/** Groups whose kinds may share a node by their labels, each with the groups that it is part of. */
function splitByLabels(
  groups: readonly Priced[],
  sets: readonly (readonly number[])[],
): readonly { readonly served: readonly number[]; readonly from: readonly Priced[] }[] {
  if (sets.length === 1) return groups.map((group) => ({ served: group.kinds, from: [group] }));
  const byText = new Map<string, { readonly served: readonly number[]; readonly from: Priced[] }>();
  for (const group of groups) {
    for (const served of largestOf(sets.map((set) => group.kinds.filter((kind) => set.includes(kind))))) {
      const known = byText.get(served.join());
      if (known === undefined) byText.set(served.join(), { served, from: [group] });
      else known.from.push(group);
    }
  }
  return [...byText.values()];
}

function lowestPrices([first, ...others]: readonly Priced[]): Float64Array {
  const lowest = Float64Array.from(first?.prices ?? []);
  return lowest.map((price, type) => Math.min(price, ...others.map(({ prices }) => prices[type] ?? price)));
}

/** A template's instance types, grouped by the kinds that may use them; `served` are indexes into `kinds`. */
function typesByKinds(
  template: Template,
  kinds: readonly { readonly types: Bitset; readonly needs: readonly number[] }[],
  width: number,
  allowed: Bitset = template.types,
): readonly { readonly served: readonly number[]; readonly types: number[] }[] {
  const byText = new Map<string, { readonly served: readonly number[]; readonly types: number[] }>();
  template.table.types.forEach((_, type) => {
    if (!hasBit(allowed, type)) return;
    const served: number[] = [];
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at];
      if (kind === undefined || !hasBit(kind.types, type)) continue;
      if (kind.needs.every((r) => (template.room[type * width + r] ?? 0) > 0)) served.push(at);
    }
    if (served.length === 0) return;
    const text = served.join();
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { served, types: [type] });
    else known.types.push(type);
  });
  return [...byText.values()];
}

/** Options by rising price, without those that have no more of any resource than a cheaper one. */
function undominatedOptions(template: Template, prices: Float64Array, width: number): readonly NodeOption[] {
  const kept: NodeOption[] = [];
  const nodeCost = template.costs.perNode;
  const types: number[] = [];
  for (let t = 0; t < prices.length; t++) if (prices[t] !== Number.POSITIVE_INFINITY) types.push(t);
  const order = risingOrder(types, prices);
  const room = new Float64Array(width);
  for (const ranked of template.costs.ranked(order, (t) => prices[t] ?? 0)) {
    readRoom(room, template, ranked);
    if (!isDominated(kept, room) && room.some((amount) => amount > 0))
      kept.push({ type: ranked.type, price: ranked.price, nodeCost, room: room.slice() });
  }
  return kept;
}

/** The last ones first: an option that is little cheaper is the most likely to have as much of everything. */
function isDominated(kept: readonly NodeOption[], room: Float64Array): boolean {
  for (let at = kept.length - 1; at >= 0; at--) if (hasRoom((kept[at] as NodeOption).room, 0, room)) return true;
  return false;
}
