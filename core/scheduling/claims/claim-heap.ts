import type { ClaimState } from "./claim-state.ts";

/** The least by which claims of a state grow dearer for some ask. */
export interface Bid {
  readonly rise: number;
  readonly state: ClaimState;
  readonly heap: ClaimHeap;
  /** Whether it lies in its heap, or will never be wanted there again. */
  isIn: boolean;
}

/** Lowest rise first, then fewest pods, then the oldest state. */
export function isBefore(a: Bid, b: Bid): boolean {
  if (a.rise !== b.rise) return a.rise < b.rise;
  return a.state.pods !== b.state.pods ? a.state.pods < b.state.pods : a.state.id < b.state.id;
}

/** Bids of one kind of ask, the best first. A binary heap. */
export class ClaimHeap {
  readonly #bids: Bid[] = [];

  peek(): Bid | undefined {
    return this.#bids[0];
  }

  push(bid: Bid): void {
    const bids = this.#bids;
    let at = bids.length;
    bids.push(bid);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = bids[up];
      if (parent === undefined || !isBefore(bid, parent)) break;
      bids[at] = parent;
      at = up;
    }
    bids[at] = bid;
  }

  pop(): Bid | undefined {
    const bids = this.#bids;
    const top = bids[0];
    const last = bids.pop();
    if (top === undefined || last === undefined || bids.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const [a, b] = [bids[left], bids[right]];
      const down = b !== undefined && a !== undefined && isBefore(b, a) ? right : left;
      const child = bids[down];
      if (child === undefined || !isBefore(child, last)) break;
      bids[at] = child;
      at = down;
    }
    bids[at] = last;
    return top;
  }
}
