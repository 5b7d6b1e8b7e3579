import { offeringRequirementsOf } from "../../requirements/offerings.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, hasBit } from "../tables/bitset.ts";
import { readRoom } from "../tables/frontier.ts";
import { admits } from "../tables/offering-table.ts";
import { hasRoom } from "../tables/resource-axis.ts";
import { risingOrder } from "../tables/rising-order.ts";
import type { PlacementKind } from "./demand.ts";

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
 * Node options of one pool that serve the same kinds of pods. A bin packing problem with variable bin sizes has one
 * such group for each set of kinds: for example, arm64 offerings in zone-a that serve kind 0 alone, and amd64 offerings
 * that serve 0 and 1.
 */
export interface OfferingGroup {
  readonly template: Template;
  /** Indexes of the PlacementKinds that nodes of these options may take. */
  readonly kinds: readonly number[];
  /** By rising price, without options that have no more of any resource than a cheaper one. */
  readonly options: readonly NodeOption[];
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
): readonly OfferingGroup[] {
  const byText = new Map<string, { readonly template: Template; readonly kinds: readonly number[]; readonly prices: Float64Array }>();
  for (const template of templates) {
    const own = kinds.flatMap(({ sets, needs }, kind) => {
      const set = sets[template.index];
      return set === undefined
        ? []
        : [{ kind, needs, types: template.table.admitted(set), offerings: offeringRequirementsOf(set.requirements) }];
    });
    const groups = typesByKinds(template, own, width, narrowed?.get(template));
    for (const { offering, prices } of template.table.offerings) {
      const admitted = own.map(({ offerings }) => admits(offerings, offering));
      for (const { served, types } of groups) {
        const here = served.filter((at) => admitted[at]);
        const kindsHere = here.map((at) => own[at]?.kind ?? 0);
        if (kindsHere.length === 0) continue;
        const text = `${template.index}:${kindsHere.join()}`;
        const known = byText.get(text);
        const lowest = known?.prices ?? new Float64Array(prices.length).fill(Number.POSITIVE_INFINITY);
        if (known === undefined) byText.set(text, { template, kinds: kindsHere, prices: lowest });
        for (const type of types) {
          const price = prices[type] ?? Number.POSITIVE_INFINITY;
          if (price > 0 && price < (lowest[type] ?? 0)) lowest[type] = price;
        }
      }
    }
  }
  const offeringGroups = [...byText.values()].map((offeringGroup) => ({
    template: offeringGroup.template,
    kinds: offeringGroup.kinds,
    options: undominatedOptions(offeringGroup, width),
  }));
  return offeringGroups.filter(({ options }) => options.length > 0);
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
function undominatedOptions(
  { template, prices }: { readonly template: Template; readonly prices: Float64Array },
  width: number,
): readonly NodeOption[] {
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
