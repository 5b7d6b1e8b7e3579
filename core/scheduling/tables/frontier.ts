import { type Bitset, hasBit } from "./bitset.ts";

/** The types that a frontier reads, with their prices and room. */
export interface FrontierSource {
  /** By rising price (USD per hour); of a type, pods may request up to `maxCpu` (milli-units) at that price. */
  readonly ranked: readonly { readonly type: number; readonly price: number; readonly maxCpu: number }[];
  /** Types that may be used at all. */
  readonly types: Bitset;
  /** Room for pods: a row of `width` amounts for each type, in milli-units. */
  readonly room: Float64Array;
  /** Number of resources. */
  readonly width: number;
  /** Index of the resource cpu; -1 where no pod requests it. */
  readonly cpu: number;
}

/**
 * The Pareto frontier of price and room: types by rising price, without types that have no more of any resource than a
 * cheaper one. The cheapest type with room for a request is always on the frontier, and the frontier is short. It is
 * extended only as far as queries need it.
 *
 *     const place = frontier.first(Float64Array.of(3000), 0); // cheapest type with 3 cpu for pods
 *     frontier.priceAt(place); // USD per hour
 */
export class Frontier {
  readonly #source: FrontierSource;
  readonly #types: number[] = [];
  readonly #prices: number[] = [];
  /** Rows of `width` amounts, by place. */
  readonly #room: number[] = [];
  /** Number of entries of the source that were read. */
  #seen = 0;

  constructor(source: FrontierSource) {
    this.#source = source;
  }

  /** Place of the cheapest type with room for `need`, at place `from` or after it; -1 without one. */
  first(need: Float64Array, from: number): number {
    const { width } = this.#source;
    const room = this.#room;
    for (let i = from; i < this.#prices.length || this.#extend(); i++) {
      const row = i * width;
      let r = 0;
      while (r < width && (need[r] ?? 0) <= (room[row + r] ?? 0)) r++;
      if (r === width) return i;
    }
    return -1;
  }

  /**
   * USD per hour of the cheapest share of a type with room for `need`, where the share is that of its most used
   * resource; Infinity without such a type.
   */
  share(need: Float64Array): number {
    const { width } = this.#source;
    let lowest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#prices.length || this.#extend(); i++) {
      let part = 0;
      for (let r = 0; r < width; r++) {
        const amount = need[r] ?? 0;
        if (amount > 0) part = Math.max(part, amount / Math.max(0, this.#room[i * width + r] ?? 0));
      }
      if (part <= 1) lowest = Math.min(lowest, part * (this.#prices[i] ?? 0));
    }
    return lowest;
  }

  /** USD per hour of the type at a place; Infinity beyond the frontier. */
  priceAt(place: number): number {
    return this.#prices[place] ?? Number.POSITIVE_INFINITY;
  }

  /** The type at a place, as its index in the table; -1 beyond the frontier. */
  typeAt(place: number): number {
    return this.#types[place] ?? -1;
  }

  /** Adds the next entry of the source that belongs to the frontier; false when none is left. */
  #extend(): boolean {
    const { ranked, types, room, width, cpu } = this.#source;
    for (let next = ranked[this.#seen]; next !== undefined; next = ranked[this.#seen]) {
      this.#seen++;
      const { type, price, maxCpu } = next;
      if (!hasBit(types, type)) continue;
      const row = room.subarray(type * width, (type + 1) * width);
      const isCut = cpu >= 0 && maxCpu < (row[cpu] ?? 0);
      const amounts = isCut ? row.map((amount, r) => (r === cpu ? maxCpu : amount)) : row;
      if (this.#isDominated(amounts)) continue;
      this.#types.push(type);
      this.#prices.push(price);
      for (let r = 0; r < width; r++) this.#room.push(amounts[r] ?? 0);
      return true;
    }
    return false;
  }

  /** Whether a cheaper type of the frontier has at least as much of every resource. */
  #isDominated(amounts: Float64Array): boolean {
    const { width } = this.#source;
    for (let at = this.#room.length - width; at >= 0; at -= width) {
      let r = 0;
      while (r < width && (amounts[r] ?? 0) <= (this.#room[at + r] ?? 0)) r++;
      if (r === width) return true;
    }
    return false;
  }
}
