// Room core/scheduling/tables: instance types and requirements in a form that is fast to search. In: instance types,
// resource lists, requirements. Out: tables, bitsets of types, prices, frontiers; each answer is remembered. A reader
// starts here. Must not know: pods, NodePools, claims, topology.

import { oncePer } from "../../lib/once-per.ts";
import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { offeringRequirementsOf } from "../../requirements/offerings.ts";
import { canonical, type Requirement } from "../../requirements/requirement.ts";
import { addAll, type Bitset, emptyBitset, hasBit, overlap, setBit } from "./bitset.ts";
import { admits, OfferingTable, type Prices } from "./offering-table.ts";
import { RequirementColumns } from "./requirement-columns.ts";
import type { RequirementSet } from "./requirement-sets.ts";
import { ResourceColumns } from "./resource-columns.ts";

/**
 * A catalogue of instance types, sorted by name, that answers requirements with bitsets of type indexes.
 *
 *     const table = typeTable(instanceTypes);
 *     members(table.admitted(set)).map((t) => table.types[t]?.name); // types that the set allows
 */
export class TypeTable {
  readonly types: readonly InstanceType[];
  /** Capacity and allocatable by resource. */
  readonly amounts: ResourceColumns;
  readonly #columns: RequirementColumns;
  readonly #offerings: OfferingTable;
  readonly #agreeing = new Map<string, Bitset | undefined>();
  readonly #prices = new Map<string, Prices>();
  readonly #pricesBySet = new WeakMap<RequirementSet, Prices>();
  readonly #admitted = new WeakMap<RequirementSet, Bitset>();
  /** By resource: its different capacities, the largest first. */
  readonly #byCapacity = new Map<string, readonly Level[]>();
  /** Whether any type has an offering in a capacity reservation. */
  readonly hasReserved: boolean;
  /** Available offerings in capacity reservations: few types have one. */
  readonly #reserved: readonly { readonly type: number; readonly id: string; readonly offering: Offering }[];
  /** Types with such an offering. */
  readonly reservedTypes: Bitset;

  constructor(types: readonly InstanceType[]) {
    this.types = [...types].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    this.#columns = new RequirementColumns(this.types);
    this.#offerings = new OfferingTable(this.types);
    this.amounts = new ResourceColumns(this.types);
    this.hasReserved = types.some(({ offerings }) => offerings.some(({ capacityType }) => capacityType === "reserved"));
    this.#reserved = this.types.flatMap(({ offerings }, type) =>
      offerings.flatMap((offering) => {
        const { capacityType, reservationId: id, available } = offering;
        return capacityType === "reserved" && id !== undefined && available ? [{ type, id, offering }] : [];
      }),
    );
    this.reservedTypes = emptyBitset(this.types.length);
    for (const { type } of this.#reserved) setBit(this.reservedTypes, type);
  }

  /** Types whose requirements agree with the set and that have an available offering which the set allows. */
  admitted(set: RequirementSet): Bitset {
    const known = this.#admitted.get(set);
    if (known !== undefined) return known;
    const bits = emptyBitset(this.types.length);
    for (const [, priced] of this.prices(set).byCapacityType) addAll(bits, priced);
    this.keepAgreeing(bits, set.requirements.values());
    this.#admitted.set(set, bits);
    return bits;
  }

  /** Removes in place the types whose requirements contradict one of the items. Offerings are not checked. */
  keepAgreeing(types: Bitset, items: Iterable<Requirement>): void {
    for (const item of items) {
      const agreeing = this.agreeing(item);
      if (agreeing === undefined) continue;
      for (let w = 0; w < types.length; w++) types[w] = (types[w] ?? 0) & (agreeing[w] ?? 0);
    }
  }

  /** Types that do not contradict one item; undefined when no type has its key. */
  agreeing(item: Requirement): Bitset | undefined {
    const text = canonical(item);
    if (this.#agreeing.has(text)) return this.#agreeing.get(text);
    const bits = this.#columns.agreeing(item);
    this.#agreeing.set(text, bits);
    return bits;
  }

  /** Prices of the available offerings that a set allows. */
  prices(set: RequirementSet): Prices {
    const known = this.#pricesBySet.get(set);
    if (known !== undefined) return known;
    const prices = this.#pricesOf(set);
    this.#pricesBySet.set(set, prices);
    return prices;
  }

  #pricesOf(set: RequirementSet): Prices {
    const items = offeringRequirementsOf(set.requirements);
    const text = items.map((item) => (item === undefined ? "" : canonical(item))).join("\u0003");
    const known = this.#prices.get(text);
    if (known !== undefined) return known;
    const prices = this.#offerings.prices(items);
    this.#prices.set(text, prices);
    return prices;
  }

  /** The columns of the offering table, with prices by type (USD per hour). */
  get offerings(): OfferingTable["columns"] {
    return this.#offerings.columns;
  }

  /** Sorted ids of the capacity reservations that some of the types could be launched into under the set. */
  reservations(set: RequirementSet, types: Bitset): readonly string[] {
    if (this.#reserved.length === 0) return [];
    const items = offeringRequirementsOf(set.requirements);
    const ids = new Set<string>();
    for (const { type, id, offering } of this.#reserved) if (hasBit(types, type) && admits(items, offering)) ids.add(id);
    return [...ids].sort();
  }

  /** Sorted capacity types in which some of the types have an available offering under the set. */
  capacityTypes(set: RequirementSet, types: Bitset): readonly string[] {
    return this.prices(set)
      .byCapacityType.flatMap(([capacityType, bits]) => (overlap(bits, types) ? [capacityType] : []))
      .sort();
  }

  /** Largest capacity of a resource over some types, in milli-units; 0 without types. */
  largest(types: Bitset, resource: string): number {
    let levels = this.#byCapacity.get(resource);
    if (levels === undefined) {
      levels = levelsOf(this.amounts.capacity(resource));
      this.#byCapacity.set(resource, levels);
    }
    for (const { amount, types: ofLevel } of levels) if (overlap(ofLevel, types)) return amount;
    return 0;
  }

  /** Values that some type has for a key, in the order of the types. */
  allValuesOf(key: string): ReadonlySet<string> {
    const values = new Set<string>();
    for (const item of this.#columns.items(key)) if (!item.complement) for (const value of item.values) values.add(value);
    return values;
  }

  /** Values that a type has for a key, for minValues and topology domains. */
  valuesOf(type: number, key: string): readonly string[] {
    const item = this.#columns.get(type, key);
    return item === undefined || item.complement ? [] : [...item.values];
  }
}

/** Types with the same capacity of a resource; types have few different ones. */
interface Level {
  /** In milli-units. */
  readonly amount: number;
  readonly types: Bitset;
}

function levelsOf(capacity: Float64Array): readonly Level[] {
  const byAmount = new Map<number, Bitset>();
  for (let t = 0; t < capacity.length; t++) {
    const amount = capacity[t] ?? 0;
    const types = byAmount.get(amount) ?? emptyBitset(capacity.length);
    byAmount.set(amount, types);
    setBit(types, t);
  }
  return [...byAmount].sort(([a], [b]) => b - a).map(([amount, types]) => ({ amount, types }));
}

/** The table of a catalogue, made once for each list of types. */
export const typeTable: (types: readonly InstanceType[]) => TypeTable = oncePer((types) => new TypeTable(types));
