import { type Bid, ClaimHeap, isBefore } from "./claim-heap.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/**
 * What claims say to one kind of ask: the least by which each grows dearer. For asks that look at domains of a key (zones), claims that lie
 * in one domain are kept by domain, so that those in the wrong one are not asked at all.
 */
export class Bids {
  readonly #key: string | undefined;
  readonly #anywhere = new ClaimHeap();
  readonly #byDomain = new Map<string, ClaimHeap>();
  /** Number of pods of each claim when it was last asked. */
  readonly #askedAt: number[] = [];
  /** How much of the attempt's record of changes has been taken in. */
  #seen = 0;

  /** `key`: label whose domains matter, if any does. */
  constructor(key: string | undefined) {
    this.#key = key;
  }

  /** Takes in claims that changed; `rise` is undefined for those that will never take such a pod. */
  update(changes: readonly number[], claims: readonly PlannedClaim[], rise: (claim: PlannedClaim) => number | undefined): void {
    for (; this.#seen < changes.length; this.#seen++) {
      const claim = claims[changes[this.#seen] ?? 0];
      if (claim === undefined || this.#askedAt[claim.index] === claim.pods.length) continue;
      this.#askedAt[claim.index] = claim.pods.length;
      const amount = rise(claim);
      if (amount !== undefined) this.#heapFor(claim).push({ rise: amount, claim: claim.index, pods: claim.pods.length });
    }
  }

  /** Domains that hold claims. */
  domains(): Iterable<string> {
    return this.#byDomain.keys();
  }

  /** The heaps of some domains, and that of the claims that are still free to go anywhere. */
  heaps(domains: readonly string[]): readonly ClaimHeap[] {
    const heaps = [this.#anywhere];
    for (const domain of domains) {
      const heap = this.#byDomain.get(domain);
      if (heap !== undefined) heaps.push(heap);
    }
    return heaps;
  }

  #heapFor({ set }: PlannedClaim): ClaimHeap {
    if (this.#key === undefined) return this.#anywhere;
    const item = set.requirements.get(this.#key);
    if (item === undefined || item.complement || item.values.size !== 1) return this.#anywhere;
    const [domain = ""] = item.values;
    const heap = this.#byDomain.get(domain) ?? new ClaimHeap();
    this.#byDomain.set(domain, heap);
    return heap;
  }
}

/** The best bid of several heaps, with the heap that it lies in. */
export function lowest(heaps: readonly ClaimHeap[]): { readonly bid: Bid; readonly heap: ClaimHeap } | undefined {
  let best: { bid: Bid; heap: ClaimHeap } | undefined;
  for (const heap of heaps) {
    const bid = heap.peek();
    if (bid !== undefined && (best === undefined || isBefore(bid, best.bid))) best = { bid, heap };
  }
  return best;
}
