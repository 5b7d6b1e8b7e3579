import type { InstanceType, Offering } from "../model/instance-type.ts";
import { CAPACITY_TYPE, ZONE, ZONE_ID } from "../model/labels.ts";
import { oncePer } from "../model/once-per.ts";
import { parseResources, type Resources } from "../model/quantity.ts";
import { allowsAbsent, canonical, has, type Requirement } from "../requirements/requirement.ts";
import { conflictOf, type Requirements, requirementsFrom } from "../requirements/requirements.ts";
import { type Bitset, emptyBitset, hasBit, overlap, setBit } from "./bitset.ts";
import type { RequirementSet } from "./requirement-sets.ts";

export const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
const OFFERING_KEYS = [ZONE, CAPACITY_TYPE, ZONE_ID, RESERVATION_ID];

/** Prices that a requirement set sees. */
export interface Prices {
  /** USD per hour of the cheapest available offering by type; Infinity where none is. */
  readonly byType: Float64Array;
  /** Types with an offering, cheapest first, then by name. */
  readonly order: readonly number[];
  /** Capacity types in which some type can be had, with those types. */
  readonly byCapacityType: readonly (readonly [string, Bitset])[];
}

/** A catalogue of instance types laid out for solving: sorted by name, answers to requirements remembered as bitsets. */
export class TypeTable {
  readonly types: readonly InstanceType[];
  readonly requirements: readonly Requirements[];
  readonly capacity: readonly Resources[];
  /** Capacity less what kubelet, system and eviction thresholds keep. */
  readonly allocatable: readonly Resources[];
  readonly #bits = new Map<string, Bitset>();
  readonly #keys: ReadonlySet<string>;
  readonly #prices = new Map<string, Prices>();
  readonly #pricesBySet = new WeakMap<RequirementSet, Prices>();
  readonly #admitted = new WeakMap<RequirementSet, Bitset>();
  /** Types by falling capacity, by resource. */
  readonly #byCapacity = new Map<string, readonly number[]>();
  /** Whether any type can be had from a capacity reservation. */
  readonly hasReserved: boolean;

  constructor(types: readonly InstanceType[]) {
    this.types = [...types].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    this.requirements = this.types.map((type) => requirementsFrom(type.requirements));
    this.capacity = this.types.map((type) => parseResources(type.capacity));
    this.allocatable = this.types.map((type, i) => allocatableOf(type, this.capacity[i] ?? {}));
    this.hasReserved = types.some(({ offerings }) => offerings.some(({ capacityType }) => capacityType === "reserved"));
    this.#keys = new Set(this.requirements.flatMap((set) => [...set.keys()]));
  }

  /** Types whose own requirements agree with the set and that have an available offering which it allows. */
  admitted(set: RequirementSet): Bitset {
    const known = this.#admitted.get(set);
    if (known !== undefined) return known;
    const bits = emptyBitset(this.types.length);
    for (const t of this.prices(set).order) setBit(bits, t);
    for (const item of set.requirements.values()) {
      if (!this.#keys.has(item.key)) continue;
      const agreeing = this.agreeing(item);
      for (let w = 0; w < bits.length; w++) bits[w] = (bits[w] ?? 0) & (agreeing[w] ?? 0);
    }
    this.#admitted.set(set, bits);
    return bits;
  }

  /** Types whose requirements agree with one item; offerings are not looked at. */
  agreeing(item: Requirement): Bitset {
    const text = canonical(item);
    const known = this.#bits.get(text);
    if (known !== undefined) return known;
    const bits = emptyBitset(this.types.length);
    const wanted: Requirements = new Map([[item.key, item]]);
    this.requirements.forEach((own, t) => {
      if (conflictOf(own, wanted) === undefined) setBit(bits, t);
    });
    this.#bits.set(text, bits);
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
    const items = OFFERING_KEYS.map((key) => set.requirements.get(key));
    const text = items.map((item) => (item === undefined ? "" : canonical(item))).join("\u0003");
    const known = this.#prices.get(text);
    if (known !== undefined) return known;
    const byType = new Float64Array(this.types.length).fill(Number.POSITIVE_INFINITY);
    const byCapacityType = new Map<string, Bitset>();
    this.types.forEach(({ offerings }, t) => {
      for (const offering of offerings) {
        if (!offering.available || !admits(items, offering)) continue;
        if (offering.price < (byType[t] ?? 0)) byType[t] = offering.price;
        const bits = byCapacityType.get(offering.capacityType) ?? emptyBitset(this.types.length);
        byCapacityType.set(offering.capacityType, bits);
        setBit(bits, t);
      }
    });
    const order = this.types.map((_, t) => t).filter((t) => byType[t] !== Number.POSITIVE_INFINITY);
    order.sort((a, b) => (byType[a] ?? 0) - (byType[b] ?? 0) || a - b);
    const prices = { byType, order, byCapacityType: [...byCapacityType] };
    this.#prices.set(text, prices);
    return prices;
  }

  /** Capacity reservations that some of the types could be launched into under the set. */
  reservations(set: RequirementSet, types: Bitset): readonly string[] {
    if (!this.hasReserved) return [];
    const items = OFFERING_KEYS.map((key) => set.requirements.get(key));
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
    const item = this.requirements[type]?.get(key);
    return item === undefined || item.complement ? [] : [...item.values];
  }
}

/** The table of a catalogue; made once for each list of types. */
export const typeTable: (types: readonly InstanceType[]) => TypeTable = oncePer((types) => new TypeTable(types));

function admits(items: readonly (Requirement | undefined)[], offering: Offering): boolean {
  const [zone, capacityType, zoneId, reservation] = items;
  if (zone !== undefined && !has(zone, offering.zone)) return false;
  if (capacityType !== undefined && !has(capacityType, offering.capacityType)) return false;
  if (zoneId !== undefined && offering.zoneId !== undefined && !has(zoneId, offering.zoneId)) return false;
  if (offering.capacityType === "reserved" && offering.reservationCapacity !== undefined && offering.reservationCapacity <= 0) return false;
  if (reservation === undefined) return true;
  // An offering outside any reservation has no reservation id.
  return offering.reservationId === undefined ? allowsAbsent(reservation) : has(reservation, offering.reservationId);
}

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
