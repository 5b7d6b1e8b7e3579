/** A claim with the least by which it can grow dearer for some ask, in the state that it had with so many pods. */
export interface Bid {
  readonly rise: number;
  readonly claim: number;
  readonly pods: number;
}

/** Lowest rise first, then fewest pods, then the oldest claim. */
export function isBefore(a: Bid, b: Bid): boolean {
  if (a.rise !== b.rise) return a.rise < b.rise;
  return a.pods !== b.pods ? a.pods < b.pods : a.claim < b.claim;
}

/** Bids of one ask, the lowest first: by rise, then by number of pods, then by age of the claim. A binary heap. */
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
