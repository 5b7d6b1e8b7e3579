import { oncePer } from "../../lib/once-per.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import { parseResources, type Resources } from "../../model/quantity.ts";
import { canonical, type Requirement } from "../../requirements/requirement.ts";
import { type Bitset, emptyBitset, hasBit, overlap, setBit } from "./bitset.ts";
import { admits, OfferingTable, type Prices, wishOf } from "./offering-table.ts";
import { RequirementColumns } from "./requirement-columns.ts";
import type { RequirementSet } from "./requirement-sets.ts";

/** A catalogue of instance types laid out for solving: sorted by name, answers to requirements remembered as bitsets. */
export class TypeTable {
  readonly types: readonly InstanceType[];
  readonly capacity: readonly Resources[];
  /** Capacity less what kubelet, system and eviction thresholds keep. */
  readonly allocatable: readonly Resources[];
  readonly #columns: RequirementColumns;
  readonly #offerings: OfferingTable;
  readonly #agreeing = new Map<string, Bitset | undefined>();
  readonly #prices = new Map<string, Prices>();
  readonly #pricesBySet = new WeakMap<RequirementSet, Prices>();
  readonly #admitted = new WeakMap<RequirementSet, Bitset>();
  /** Types by falling capacity, by resource. */
  readonly #byCapacity = new Map<string, readonly number[]>();
  /** Whether any type can be had from a capacity reservation. */
  readonly hasReserved: boolean;

  constructor(types: readonly InstanceType[]) {
    this.types = [...types].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    this.#columns = new RequirementColumns(this.types);
    this.#offerings = new OfferingTable(this.types);
    this.capacity = this.types.map((type) => parseResources(type.capacity));
    this.allocatable = this.types.map((type, i) => allocatableOf(type, this.capacity[i] ?? {}));
    this.hasReserved = types.some(({ offerings }) => offerings.some(({ capacityType }) => capacityType === "reserved"));
  }

  /** Types whose own requirements agree with the set and that have an available offering which it allows. */
  admitted(set: RequirementSet): Bitset {
    const known = this.#admitted.get(set);
    if (known !== undefined) return known;
    const bits = emptyBitset(this.types.length);
    for (const t of this.prices(set).order) setBit(bits, t);
    this.keepAgreeing(bits, set.requirements.values());
    this.#admitted.set(set, bits);
    return bits;
  }

  /** Takes out the types whose requirements contradict some of the items; offerings are not looked at. */
  keepAgreeing(types: Bitset, items: Iterable<Requirement>): void {
    for (const item of items) {
      const agreeing = this.agreeing(item);
      if (agreeing === undefined) continue;
      for (let w = 0; w < types.length; w++) types[w] = (types[w] ?? 0) & (agreeing[w] ?? 0);
    }
  }

  /** Types that do not contradict one item; undefined when none has anything to say about its key. */
  agreeing(item: Requirement): Bitset | undefined {
    const text = canonical(item);
    if (this.#agreeing.has(text)) return this.#agreeing.get(text);
    const bits = this.#columns.agreeing(item);
    this.#agreeing.set(text, bits);
    return bits;
  }

  prices(set: RequirementSet): Prices {
    const known = this.#pricesBySet.get(set);
    if (known !== undefined) return known;
    const prices = this.#pricesOf(set);
    this.#pricesBySet.set(set, prices);
    return prices;
  }

  #pricesOf(set: RequirementSet): Prices {
    const items = wishOf(set.requirements);
    const text = items.map((item) => (item === undefined ? "" : canonical(item))).join("\u0003");
    const known = this.#prices.get(text);
    if (known !== undefined) return known;
    const prices = this.#offerings.prices(items);
    this.#prices.set(text, prices);
    return prices;
  }

  /** Each place and way to buy, with prices by type (USD per hour). */
  get offerings(): OfferingTable["columns"] {
    return this.#offerings.columns;
  }

  /** Capacity reservations that some of the types could be launched into under the set. */
  reservations(set: RequirementSet, types: Bitset): readonly string[] {
    if (!this.hasReserved) return [];
    const items = wishOf(set.requirements);
    const ids = new Set<string>();
    this.types.forEach(({ offerings }, t) => {
      if (!hasBit(types, t)) return;
      for (const offering of offerings) {
        if (offering.capacityType !== "reserved" || offering.reservationId === undefined || !offering.available) continue;
        if (admits(items, offering)) ids.add(offering.reservationId);
      }
    });
    return [...ids].sort();
  }

  /** Capacity types in which some of the types can be had under the set. */
  capacityTypes(set: RequirementSet, types: Bitset): readonly string[] {
    return this.prices(set)
      .byCapacityType.flatMap(([capacityType, bits]) => (overlap(bits, types) ? [capacityType] : []))
      .sort();
  }

  /** Largest capacity of a resource over some types, in milli-units; 0 for none. */
  largest(types: Bitset, resource: string): number {
    let order = this.#byCapacity.get(resource);
    if (order === undefined) {
      const size = (t: number): number => this.capacity[t]?.[resource] ?? 0;
      order = this.types.map((_, t) => t).sort((a, b) => size(b) - size(a));
      this.#byCapacity.set(resource, order);
    }
    const first = order.find((t) => hasBit(types, t));
    return first === undefined ? 0 : (this.capacity[first]?.[resource] ?? 0);
  }

  /** Values that a type offers for a key (minValues, topology domains). */
  valuesOf(type: number, key: string): readonly string[] {
    const item = this.#columns.get(type, key);
    return item === undefined || item.complement ? [] : [...item.values];
  }
}

/** The table of a catalogue; made once for each list of types. */
export const typeTable: (types: readonly InstanceType[]) => TypeTable = oncePer((types) => new TypeTable(types));

function allocatableOf(type: InstanceType, capacity: Resources): Resources {
  const rest: Record<string, number> = { ...capacity };
  for (const part of [type.overhead.kubeReserved, type.overhead.systemReserved, type.overhead.evictionThreshold]) {
    const held = parseResources(part);
    for (const name in held) rest[name] = (rest[name] ?? 0) - (held[name] ?? 0);
  }
  let huge = 0;
  for (const name in capacity) if (name.startsWith("hugepages-")) huge += capacity[name] ?? 0;
  if (huge > 0) rest["memory"] = Math.max(0, (rest["memory"] ?? 0) - huge);
  return rest;
}
