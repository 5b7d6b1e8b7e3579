import type { Template } from "../problem/template.ts";
import { type Bitset, hasBit } from "../tables/bitset.ts";
import { admits, wishOf } from "../tables/offering-table.ts";
import type { PlacementKind } from "./demand.ts";

/** A machine that can be bought. */
export interface NodeOption {
  /** Index of the instance type in the template's table. */
  readonly type: number;
  /** USD per hour. */
  readonly price: number;
  /** Room for pods, by resource. */
  readonly room: Float64Array;
}

/** Offers that serve the same kinds of pods. */
export interface OfferingGroup {
  readonly template: Template;
  readonly kinds: readonly number[];
  /** By rising price, without those that a cheaper one equals or outdoes in every resource. */
  readonly options: readonly NodeOption[];
}

/**
 * What can be bought for some kinds of pods, by whom it serves: from the pools that make nodes for their sake, unless others are named. What costs
 * nothing is left out: its room would be worth nothing.
 */
export function offeringGroupsFor(
  kinds: readonly PlacementKind[],
  width: number,
  templates: Iterable<Template> = new Set(kinds.map(({ home }) => home)),
): readonly OfferingGroup[] {
  const byText = new Map<
    string,
    { readonly template: Template; readonly kinds: readonly number[]; readonly prices: Map<number, number> }
  >();
  for (const template of templates) {
    const own = kinds.flatMap(({ sets, needs }, kind) => {
      const set = sets[template.index];
      return set === undefined ? [] : [{ kind, needs, types: template.table.admitted(set), wish: wishOf(set.requirements) }];
    });
    const groups = typesByKinds(template, own, width);
    for (const { offering, prices } of template.table.offerings) {
      const admitted = own.map(({ wish }) => admits(wish, offering));
      for (const { served, types } of groups) {
        const here = served.filter((at) => admitted[at]);
        const kindsHere = here.map((at) => own[at]?.kind ?? 0);
        if (kindsHere.length === 0) continue;
        const text = `${template.index}:${kindsHere.join()}`;
        const offeringGroup = byText.get(text) ?? { template, kinds: kindsHere, prices: new Map() };
        byText.set(text, offeringGroup);
        for (const type of types) {
          const price = prices[type] ?? Number.POSITIVE_INFINITY;
          if (price > 0 && price < (offeringGroup.prices.get(type) ?? Number.POSITIVE_INFINITY)) offeringGroup.prices.set(type, price);
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

/** A template's types by which kinds may use them. */
function typesByKinds(
  template: Template,
  kinds: readonly { readonly types: Bitset; readonly needs: readonly number[] }[],
  width: number,
): readonly { readonly served: readonly number[]; readonly types: number[] }[] {
  const byText = new Map<string, { readonly served: readonly number[]; readonly types: number[] }>();
  template.table.types.forEach((_, type) => {
    if (!hasBit(template.types, type)) return;
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

/** Offers by rising price, without those that a cheaper one equals or outdoes in every resource. */
function undominatedOptions(
  { template, prices }: { readonly template: Template; readonly prices: ReadonlyMap<number, number> },
  width: number,
): readonly NodeOption[] {
  const kept: NodeOption[] = [];
  for (const [type, price] of [...prices].sort(([a, p], [b, q]) => p - q || a - b)) {
    const room = template.room.subarray(type * width, (type + 1) * width);
    if (room.some((amount) => amount > 0) && !kept.some((other) => holds(other.room, room))) kept.push({ type, price, room });
  }
  return kept;
}

/** Whether one room is as large as another in every resource. */
function holds(a: Float64Array, b: Float64Array): boolean {
  for (let r = 0; r < a.length; r++) if ((a[r] ?? 0) < (b[r] ?? 0)) return false;
  return true;
}
