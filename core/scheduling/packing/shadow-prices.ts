import type { Item } from "./demand.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";

/** Total requests of some pods of one kind. */
interface DemandVector {
  readonly kind: number;
  readonly vector: Float64Array;
}

/**
 * Factors tried on one shadow price in turn, from coarse to fine; 0 gives a resource no price. No benchmark has tuned
 * them alone.
 */
const STEP_FACTORS = [4, 0.25, 1.7, 0.6, 1.25, 0.8, 1.08, 0.93, 1.02, 0.98, 0];
/**
 * Items whose resource shares agree after rounding to 1/10 are summed into one demand vector. No benchmark has tuned it
 * alone.
 */
const SHARE_RESOLUTION = 10;
/**
 * The search ends after a round that gains less than this share of the total value. No benchmark has tuned it alone.
 */
const CONVERGED_SHARE = 1e-4;
/**
 * Multiplications that a search may do. It bounds the time for demands of many kinds and offering groups (2,000 pods
 * with 600 kinds and 588 groups kept the search busy for minutes); 10,000 usual pods take a fraction of it
 * (`npm run -s bench`).
 */
const MAX_WORK = 100_000_000;

/**
 * The shadow prices of a packing problem: for each offering group a price of each resource (USD per hour and
 * milli-unit). They solve the dual of the linear program that covers all pods with nodes, where both are divisible and
 * host rules are left out: no node's room has a higher value than the node costs, and the value of the pods is as high
 * as possible. By weak duality no packing costs less than the value of its pods, even if the search stopped early.
 * Coordinate ascent finds them, in at most `rounds` rounds over all groups.
 *
 * Example: one type with 3.9 cpu for pods at 0.16 USD per hour, and pods that request only cpu. The price is 0.16 /
 * 3900 per milli-cpu, so `valueOfPod` of a pod with 1 cpu is 0.041 USD per hour.
 */
export class ShadowPrices {
  /** By offering group: the price of each resource. */
  readonly byGroup: readonly Float64Array[];
  /** By kind: indexes of the offering groups that serve it. */
  readonly #usable: readonly (readonly number[])[];

  constructor(offeringGroups: readonly OfferingGroup[], items: readonly Item[], kinds: number, width: number, rounds: number) {
    const usable = Array.from({ length: kinds }, (): number[] => []);
    offeringGroups.forEach(({ kinds: served }, g) => {
      for (const kind of served) usable[kind]?.push(g);
    });
    this.#usable = usable;
    const search = new DualSearch(offeringGroups, demandVectorsOf(items, width), this.#usable, width);
    search.run(rounds);
    this.byGroup = search.pricesByGroup;
  }

  /**
   * Value of one pod in USD per hour: its requests at the prices of its cheapest offering group; 0 when no group serves
   * its kind.
   */
  valueOfPod({ kind, vector }: Pick<Item, "kind" | "vector">): number {
    const prices = this.cheapest(kind, vector);
    return prices === undefined ? 0 : dot(prices, vector);
  }

  /**
   * Shadow prices of the group that serves a kind and in which `vector` has the lowest value; undefined when no group
   * serves it.
   */
  cheapest(kind: number, vector: Float64Array): Float64Array | undefined {
    let best: Float64Array | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const g of this.#usable[kind] ?? []) {
      const prices = this.byGroup[g];
      const value = prices === undefined ? lowest : dot(prices, vector);
      if (value < lowest) [best, lowest] = [prices, value];
    }
    return best;
  }

  /**
   * Mean price of each resource (USD per hour and milli-unit) over all pods, each at its cheapest group, weighted by
   * requests.
   */
  mean(items: readonly Item[], width: number): Float64Array {
    const mean = new Float64Array(width);
    const requested = new Float64Array(width);
    for (const { kind, vector, pods } of items) {
      const shadowPrices = this.cheapest(kind, vector);
      if (shadowPrices === undefined) continue;
      for (let r = 0; r < width; r++) {
        const amount = pods * (vector[r] ?? 0);
        requested[r] = (requested[r] ?? 0) + amount;
        mean[r] = (mean[r] ?? 0) + amount * (shadowPrices[r] ?? 0);
      }
    }
    return mean.map((value, r) => ((requested[r] ?? 0) > 0 ? value / (requested[r] ?? 1) : 0));
  }

  /** Indexes of the offering groups that serve a kind. */
  groupsServing(kind: number): readonly number[] {
    return this.#usable[kind] ?? [];
  }
}

/**
 * Items as demand vectors. Items of one kind with about the same resource shares are summed into one vector to save
 * work; the lower bound stays valid, because `valueOfPod` prices each item alone.
 */
function demandVectorsOf(items: readonly Item[], width: number): readonly DemandVector[] {
  const requested = new Float64Array(width);
  for (const { pods, vector } of items) for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
  const byShares = new Map<string, DemandVector>();
  for (const { kind, vector, pods } of items) {
    const shares = vector.map((amount, r) => (amount > 0 ? amount / (requested[r] ?? 1) : 0));
    const sum = shares.reduce((total, share) => total + share, 0);
    const text = `${kind}/${shares.map((share) => Math.round((SHARE_RESOLUTION * share) / sum)).join()}`;
    const known = byShares.get(text);
    if (known === undefined) byShares.set(text, { kind, vector: vector.map((amount) => amount * pods) });
    else
      vector.forEach((amount, r) => {
        known.vector[r] = (known.vector[r] ?? 0) + amount * pods;
      });
  }
  return [...byShares.values()];
}

/**
 * Coordinate ascent on the dual. Amounts are in flat arrays because the same few sums are computed tens of thousands of
 * times.
 */
class DualSearch {
  readonly #width: number;
  /** Rows of `#width` amounts. */
  readonly #demandVectors: Float64Array;
  /** By demand vector. */
  readonly #kindOf: Int32Array;
  /** By offering group: room per dollar of its undominated options, row after row. */
  readonly #rows: readonly Float64Array[];
  readonly #usable: readonly Int32Array[];
  /** Rows by offering group: the accepted shadow prices, and those of the current trial. */
  readonly #shadowPrices: Float64Array;
  readonly #trial: Float64Array;
  /** By offering group and demand vector: the vector's value there at accepted prices. */
  readonly #values: Float64Array;
  /** By offering group: 1 while the current trial changes its prices. */
  readonly #isTried: Uint8Array;
  /** By demand vector: its value at the cheapest group, at accepted prices and in the current trial. */
  readonly #lowest: Float64Array;
  readonly #trialLowest: Float64Array;
  /** Total of all demand vectors. */
  readonly #requested: Float64Array;
  #work = 0;

  constructor(
    offeringGroups: readonly OfferingGroup[],
    demandVectors: readonly DemandVector[],
    usable: readonly (readonly number[])[],
    width: number,
  ) {
    this.#width = width;
    this.#demandVectors = Float64Array.from(demandVectors.flatMap(({ vector }) => [...vector]));
    this.#kindOf = Int32Array.from(demandVectors, ({ kind }) => kind);
    const rows = new Map<readonly NodeOption[], Float64Array>();
    this.#rows = offeringGroups.map(({ options }) => {
      const known = rows.get(options) ?? undominated(options, width);
      rows.set(options, known);
      return known;
    });
    this.#usable = usable.map((list) => Int32Array.from(list));
    this.#requested = new Float64Array(width);
    for (let at = 0; at < this.#demandVectors.length; at++)
      this.#requested[at % width] = (this.#requested[at % width] ?? 0) + (this.#demandVectors[at] ?? 0);
    this.#shadowPrices = new Float64Array(offeringGroups.length * width);
    this.#trial = new Float64Array(offeringGroups.length * width);
    this.#values = new Float64Array(offeringGroups.length * demandVectors.length);
    this.#isTried = new Uint8Array(offeringGroups.length);
    this.#lowest = new Float64Array(demandVectors.length);
    this.#trialLowest = new Float64Array(demandVectors.length);
  }

  /** By offering group: the price of each resource. */
  get pricesByGroup(): readonly Float64Array[] {
    return this.#rows.map((_, g) => this.#shadowPrices.slice(g * this.#width, (g + 1) * this.#width));
  }

  run(rounds: number): void {
    const all = this.#rows.map((_, g) => g);
    for (const g of all) {
      this.#requested.forEach((amount, r) => {
        this.#trial[g * this.#width + r] = amount > 0 ? 1 / amount : 0;
      });
    }
    const everything = { offeringGroups: all, demandVectors: this.#demandVectorsOf(all) };
    // All groups together, then those of one kind, then each alone: the value of a pod only rises when the prices of
    // all groups that it may use rise together.
    const groups = [
      all,
      ...new Map(this.#usable.map((offeringGroups) => [offeringGroups.join(), [...offeringGroups]])).values(),
      ...all.map((g) => [g]),
    ];
    const blocks: Block[] = [everything];
    let best = this.#tried(everything);
    this.#accept(everything);
    for (let round = 0; round < rounds; round++) {
      const before = best;
      for (let b = 0; b < groups.length; b++) {
        if (this.#work > MAX_WORK) return;
        const offeringGroups = groups[b] ?? all;
        const block = blocks[b] ?? { offeringGroups, demandVectors: this.#demandVectorsOf(offeringGroups) };
        blocks[b] = block;
        for (let r = 0; r < this.#width; r++) if ((this.#requested[r] ?? 0) > 0) best += this.#climb(block, r);
      }
      if (best - before < CONVERGED_SHARE * best) return;
    }
  }

  /** Demand vectors whose kinds may use some of the groups. */
  #demandVectorsOf(offeringGroups: readonly number[]): Int32Array {
    const touched = new Set(offeringGroups);
    this.#work += this.#usable.length * this.#rows.length;
    const kinds = new Set(this.#usable.flatMap((list, kind) => (list.some((g) => touched.has(g)) ? [kind] : [])));
    return Int32Array.from([...this.#kindOf].flatMap((kind, i) => (kinds.has(kind) ? [i] : [])));
  }

  /**
   * Tries other prices of one resource in a block's groups and accepts each gain; returns the total gain in value, USD
   * per hour.
   */
  #climb(block: Block, r: number): number {
    let gain = 0;
    if (block.offeringGroups.every((g) => (this.#shadowPrices[g * this.#width + r] ?? 0) === 0)) return 0;
    for (const factor of STEP_FACTORS) {
      for (const g of block.offeringGroups) {
        for (let k = 0; k < this.#width; k++) {
          const at = g * this.#width + k;
          this.#trial[at] = (this.#shadowPrices[at] ?? 0) * (k === r ? factor : 1);
        }
      }
      const stepGain = this.#tried(block);
      if (stepGain <= 0) continue;
      gain += stepGain;
      this.#accept(block);
    }
    return gain;
  }

  /**
   * Gain in value of the trial prices. Scales them first so that the best option of each group has exactly the value of
   * its price: that is the constraint of the dual, met with equality.
   */
  #tried({ offeringGroups, demandVectors }: Block): number {
    const width = this.#width;
    for (const g of offeringGroups) {
      this.#work += this.#rows[g]?.length ?? 0;
      const highest = this.#maxValueOf(g);
      if (highest > 0) for (let k = g * width; k < (g + 1) * width; k++) this.#trial[k] = (this.#trial[k] ?? 0) / highest;
      this.#isTried[g] = 1;
    }
    let gain = 0;
    for (const i of demandVectors) {
      const lowest = this.#minValueOf(i);
      this.#trialLowest[i] = lowest;
      gain += lowest - (this.#lowest[i] ?? 0);
    }
    for (const g of offeringGroups) this.#isTried[g] = 0;
    return gain;
  }

  /** Highest value of an option of a group per dollar of its price, at trial prices. */
  #maxValueOf(g: number): number {
    const width = this.#width;
    const rows = this.#rows[g] ?? this.#requested;
    let highest = 0;
    for (let row = 0; row < rows.length; row += width) {
      let value = 0;
      for (let k = 0; k < width; k++) value += (rows[row + k] ?? 0) * (this.#trial[g * width + k] ?? 0);
      if (value > highest) highest = value;
    }
    return highest;
  }

  /** Value of a demand vector at its cheapest group, at trial prices where the trial changes them. */
  #minValueOf(i: number): number {
    const width = this.#width;
    const usable = this.#usable[this.#kindOf[i] ?? 0];
    if (usable === undefined || usable.length === 0) return 0;
    this.#work += usable.length * width;
    let lowest = Number.POSITIVE_INFINITY;
    for (const g of usable) {
      let value = this.#values[g * this.#lowest.length + i] ?? 0;
      if (this.#isTried[g] === 1) {
        value = 0;
        for (let k = 0; k < width; k++) value += (this.#demandVectors[i * width + k] ?? 0) * (this.#trial[g * width + k] ?? 0);
      }
      if (value < lowest) lowest = value;
    }
    return lowest;
  }

  /** Makes the trial prices of a block the accepted ones. */
  #accept({ offeringGroups, demandVectors }: Block): void {
    for (const g of offeringGroups) {
      for (let k = g * this.#width; k < (g + 1) * this.#width; k++) this.#shadowPrices[k] = this.#trial[k] ?? 0;
    }
    for (const i of demandVectors) {
      this.#lowest[i] = this.#trialLowest[i] ?? 0;
      for (const g of offeringGroups) {
        let value = 0;
        for (let k = 0; k < this.#width; k++)
          value += (this.#demandVectors[i * this.#width + k] ?? 0) * (this.#shadowPrices[g * this.#width + k] ?? 0);
        this.#values[g * this.#lowest.length + i] = value;
      }
    }
  }
}

/** Offering groups whose prices change together, and the demand vectors that may use some of them. */
interface Block {
  readonly offeringGroups: readonly number[];
  readonly demandVectors: Int32Array;
}

/**
 * Room per dollar of the hourly price, one row of amounts after another. Rows that have no more of any resource than
 * another row are left out, because they constrain no price.
 */
function undominated(options: readonly NodeOption[], width: number): Float64Array {
  const rows = options.map(({ room, price }) => room.map((amount) => Math.max(0, amount) / price));
  const sum = (row: Float64Array): number => row.reduce((total, amount) => total + amount, 0);
  const kept: Float64Array[] = [];
  for (const row of rows.sort((a, b) => sum(b) - sum(a))) {
    if (!kept.some((other) => row.every((amount, r) => amount <= (other[r] ?? 0)))) kept.push(row);
  }
  const flat = new Float64Array(kept.length * width);
  kept.forEach((row, i) => {
    flat.set(row, i * width);
  });
  return flat;
}

/** Sum of products. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < a.length; r++) sum += (a[r] ?? 0) * (b[r] ?? 0);
  return sum;
}
