import type { ClaimState } from "./claim-state.ts";

/** A lower bound of the price that a pod adds to claims of a state. */
export interface Quote {
  /** USD per hour. */
  addedPrice: number;
  /**
   * What the price is known from, and so how close the bound is: the types that the claim allows, those that the claim
   * and the pod allow, or their joined requirements. Closer bounds are computed only for quotes that come first.
   */
  bound: "claim" | "types" | "requirements";
  readonly state: ClaimState;
  /** The domain of the pod's first topology key that the claim would be narrowed to; undefined for any. */
  readonly domain: string | undefined;
  readonly heap: ClaimHeap;
  /** True while the quote is in its heap, and for good once its state will never take such pods. */
  isIn: boolean;
}

/** Lowest added price first, then fewest pods, then the oldest state. */
export function isBefore(a: Quote, b: Quote): boolean {
  if (a.addedPrice !== b.addedPrice) return a.addedPrice < b.addedPrice;
  return a.state.pods !== b.state.pods ? a.state.pods < b.state.pods : a.state.id < b.state.id;
}

/** Quotes for pods of one quoteKey, the best first: a binary heap. */
export class ClaimHeap {
  readonly #quotes: Quote[] = [];

  peek(): Quote | undefined {
    return this.#quotes[0];
  }

  push(quote: Quote): void {
    const quotes = this.#quotes;
    let at = quotes.length;
    quotes.push(quote);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = quotes[up];
      if (parent === undefined || !isBefore(quote, parent)) break;
      quotes[at] = parent;
      at = up;
    }
    quotes[at] = quote;
  }

  pop(): Quote | undefined {
    const quotes = this.#quotes;
    const top = quotes[0];
    const last = quotes.pop();
    if (top === undefined || last === undefined || quotes.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const [a, b] = [quotes[left], quotes[right]];
      const down = b !== undefined && a !== undefined && isBefore(b, a) ? right : left;
      const child = quotes[down];
      if (child === undefined || !isBefore(child, last)) break;
      quotes[at] = child;
      at = down;
    }
    quotes[at] = last;
    return top;
  }
}
