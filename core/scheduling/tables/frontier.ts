import { type Bitset, hasBit } from "./bitset.ts";
import type { Prices } from "./offering-table.ts";

/** What a frontier reads: types by rising price, and the room that each has. */
export interface Shelf {
  readonly prices: Prices;
  /** Types that may be taken at all. */
  readonly types: Bitset;
  /** Room for pods: a row of `width` amounts for each type. */
  readonly room: Float64Array;
  readonly width: number;
}

/**
 * Types by rising price, without those that a cheaper one equals or outdoes in every resource: the cheapest type with room for something is
 * always among the others, and they are few. Grows as far as it is asked about.
 */
export class Frontier {
  readonly #shelf: Shelf;
  readonly #prices: number[] = [];
  /** Rows of the shelf's width. */
  readonly #room: number[] = [];
  /** How much of the shelf was looked at. */
  #seen = 0;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  /** Place of the cheapest type with room for `need`, at `from` or after; -1 without one. */
  first(need: Float64Array, from: number): number {
    const { width } = this.#shelf;
    const room = this.#room;
    for (let i = from; i < this.#prices.length || this.#extend(); i++) {
      const row = i * width;
      let r = 0;
      while (r < width && (need[r] ?? 0) <= (room[row + r] ?? 0)) r++;
      if (r === width) return i;
    }
    return -1;
  }

  /** What `need` costs where it takes the cheapest share of a machine that has room for it (USD per hour); Infinity where none has. */
  share(need: Float64Array): number {
    const { width } = this.#shelf;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#prices.length || this.#extend(); i++) {
      let part = 0;
      for (let r = 0; r < width; r++) {
        const amount = need[r] ?? 0;
        if (amount > 0) part = Math.max(part, amount / Math.max(0, this.#room[i * width + r] ?? 0));
      }
      if (part <= 1) least = Math.min(least, part * (this.#prices[i] ?? 0));
    }
    return least;
  }

  /** USD per hour of the type at a place. */
  priceAt(place: number): number {
    return this.#prices[place] ?? Number.POSITIVE_INFINITY;
  }

  #extend(): boolean {
    const { prices, types, room, width } = this.#shelf;
    while (this.#seen < prices.order.length) {
      const t = prices.order[this.#seen++] ?? 0;
      if (!hasBit(types, t) || this.#isOutdone(t * width)) continue;
      this.#prices.push(prices.byType[t] ?? Number.POSITIVE_INFINITY);
      for (let r = 0; r < width; r++) this.#room.push(room[t * width + r] ?? 0);
      return true;
    }
    return false;
  }

  #isOutdone(row: number): boolean {
    const { room, width } = this.#shelf;
    for (let at = this.#room.length - width; at >= 0; at -= width) {
      let r = 0;
      while (r < width && (room[row + r] ?? 0) <= (this.#room[at + r] ?? 0)) r++;
      if (r === width) return true;
    }
    return false;
  }
}
