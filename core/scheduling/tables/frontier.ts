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
  /** By resource, the most room that one of the types has. */
  readonly most: Float64Array;
  /** Index of the resource cpu; -1 where no pod requests it. */
  readonly cpu: number;
}

/** Reads the room that a type has for pods at one step of its price into `row`, in milli-units. */
export function readRoom(
  row: Float64Array,
  { room, cpu }: Pick<FrontierSource, "room" | "cpu">,
  { type, maxCpu }: { readonly type: number; readonly maxCpu: number },
): void {
  for (let r = 0; r < row.length; r++) row[r] = room[type * row.length + r] ?? 0;
  if (cpu >= 0 && maxCpu < (row[cpu] ?? 0)) row[cpu] = maxCpu;
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
  /** Amounts of the entry that is read now. */
  readonly #row: Float64Array;
  /** Number of entries of the source that were read. */
  #seen = 0;

  constructor(source: FrontierSource) {
    this.#source = source;
    this.#row = new Float64Array(source.width);
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
    const { width, most } = this.#source;
    let least = 0;
    for (let r = 0; r < width; r++) if ((need[r] ?? 0) > 0) least = Math.max(least, (need[r] ?? 0) / (most[r] ?? 0));
    let lowest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#prices.length || this.#extend(); i++) {
      // Of the types that follow, which cost as much or more, not even the largest has a cheaper share.
      if (least * (this.#prices[i] ?? 0) >= lowest) break;
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
    const { ranked, types } = this.#source;
    for (let next = ranked[this.#seen]; next !== undefined; next = ranked[this.#seen]) {
      this.#seen++;
      if (!hasBit(types, next.type)) continue;
      readRoom(this.#row, this.#source, next);
      if (this.#isDominated(this.#row)) continue;
      this.#types.push(next.type);
      this.#prices.push(next.price);
      for (const amount of this.#row) this.#room.push(amount);
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
