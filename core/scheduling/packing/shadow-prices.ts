import type { Item } from "./demand.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";

/** What some pods of one kind ask for together. */
interface DemandVector {
  readonly kind: number;
  readonly vector: Float64Array;
}

const STEP_FACTORS = [4, 0.25, 1.7, 0.6, 1.25, 0.8, 1.08, 0.93, 1.02, 0.98, 0];
/** Pods are folded whose shares of resources agree to one part in so many. */
const MIX_RESOLUTION = 10;
/** A round that gains less than this share is the last. */
const CONVERGED_SHARE = 1e-4;
/** Products that a search may work out, so that no mix of kinds and cells holds up a run: several times what ten thousand usual pods take. */
const WORK_BUDGET = 500_000_000;

/**
 * What room is worth in each cell: for each resource a price (USD per hour and unit) such that no machine's room is worth more than the machine costs, and
 * the pods as much as possible. It is the dual of covering the pods with machines, both divisible at will and rules of company left out, so no
 * plan costs less than its pods are worth by `of` (weak duality), however far the search went: at most `rounds` times round all cells by coordinates.
 */
export class ShadowPrices {
  /** By cell. */
  readonly byGroup: readonly Float64Array[];
  readonly #usable: readonly (readonly number[])[];

  constructor(offeringGroups: readonly OfferingGroup[], items: readonly Item[], kinds: number, width: number, rounds: number) {
    this.#usable = Array.from({ length: kinds }, (_, kind) =>
      offeringGroups.flatMap(({ kinds: served }, c) => (served.includes(kind) ? [c] : [])),
    );
    const search = new DualSearch(offeringGroups, demandVectorsOf(items, width), this.#usable, width);
    search.run(rounds);
    this.byGroup = search.pricesByGroup;
  }

  /** USD per hour that a pod is worth: what it asks for, where that is worth least. 0 when no machine serves it. */
  valueOfPod({ kind, vector }: Pick<Item, "kind" | "vector">): number {
    const prices = this.cheapest(kind, vector);
    return prices === undefined ? 0 : dot(prices, vector);
  }

  /** What room is worth in the cell where so much is worth least to a kind; undefined when no machine serves it. */
  cheapest(kind: number, vector: Float64Array): Float64Array | undefined {
    let best: Float64Array | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const c of this.#usable[kind] ?? []) {
      const prices = this.byGroup[c];
      const value = prices === undefined ? least : dot(prices, vector);
      if (value < least) [best, least] = [prices, value];
    }
    return best;
  }

  /** Mean worth of a unit of each resource, USD per hour, over all pods where they are worth least. */
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

  /** Cells that serve a kind. */
  groupsServing(kind: number): readonly number[] {
    return this.#usable[kind] ?? [];
  }
}

/** Pods of one kind that ask for much the same mix of resources, folded: they then use one cell together, though apart they might use several. */
function demandVectorsOf(items: readonly Item[], width: number): readonly DemandVector[] {
  const requested = new Float64Array(width);
  for (const { pods, vector } of items) for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
  const byMix = new Map<string, DemandVector>();
  for (const { kind, vector, pods } of items) {
    const contents = vector.map((amount, r) => (amount > 0 ? amount / (requested[r] ?? 1) : 0));
    const sum = contents.reduce((total, share) => total + share, 0);
    const pack = `${kind}/${contents.map((share) => Math.round((MIX_RESOLUTION * share) / sum)).join()}`;
    const known = byMix.get(pack);
    if (known === undefined) byMix.set(pack, { kind, vector: vector.map((amount) => amount * pods) });
    else
      vector.forEach((amount, r) => {
        known.vector[r] = (known.vector[r] ?? 0) + amount * pods;
      });
  }
  return [...byMix.values()];
}

/** The search by coordinates. Amounts lie in flat arrays: it asks the same few questions tens of thousands of times. */
class DualSearch {
  readonly #width: number;
  readonly #demandVectors: Float64Array;
  readonly #kindOf: Int32Array;
  readonly #rows: readonly Float64Array[];
  readonly #usable: readonly Int32Array[];
  /** By cell: what room is worth, and what it would be in the trial in hand. */
  readonly #shadowPrices: Float64Array;
  readonly #trial: Float64Array;
  /** By cell and want: what it is worth there. */
  readonly #values: Float64Array;
  /** Whether a cell takes part in the trial in hand. */
  readonly #isTried: Uint8Array;
  /** By want: what it is worth where it is worth least, now and in the trial in hand. */
  readonly #least: Float64Array;
  readonly #trialLeast: Float64Array;
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
    this.#rows = offeringGroups.map(({ options }) => undominated(options, width));
    this.#usable = usable.map((list) => Int32Array.from(list));
    this.#requested = new Float64Array(width);
    for (let at = 0; at < this.#demandVectors.length; at++)
      this.#requested[at % width] = (this.#requested[at % width] ?? 0) + (this.#demandVectors[at] ?? 0);
    this.#shadowPrices = new Float64Array(offeringGroups.length * width);
    this.#trial = new Float64Array(offeringGroups.length * width);
    this.#values = new Float64Array(offeringGroups.length * demandVectors.length);
    this.#isTried = new Uint8Array(offeringGroups.length);
    this.#least = new Float64Array(demandVectors.length);
    this.#trialLeast = new Float64Array(demandVectors.length);
  }

  /** By cell. */
  get pricesByGroup(): readonly Float64Array[] {
    return this.#rows.map((_, c) => this.#shadowPrices.slice(c * this.#width, (c + 1) * this.#width));
  }

  run(rounds: number): void {
    const all = this.#rows.map((_, c) => c);
    for (const c of all) {
      this.#requested.forEach((amount, r) => {
        this.#trial[c * this.#width + r] = amount > 0 ? 1 / amount : 0;
      });
    }
    const everything = { offeringGroups: all, demandVectors: this.#demandVectorsOf(all) };
    // All cells together, then those of one kind, then one by one: cells that a pod may choose between must rise together.
    const groups = [
      all,
      ...new Map(this.#usable.map((offeringGroups) => [offeringGroups.join(), [...offeringGroups]])).values(),
      ...all.map((c) => [c]),
    ];
    const blocks: Block[] = [everything];
    let best = this.#tried(everything);
    this.#accept(everything);
    for (let round = 0; round < rounds; round++) {
      const before = best;
      for (let b = 0; b < groups.length; b++) {
        if (this.#work > WORK_BUDGET) return;
        const offeringGroups = groups[b] ?? all;
        const block = blocks[b] ?? { offeringGroups, demandVectors: this.#demandVectorsOf(offeringGroups) };
        blocks[b] = block;
        for (let r = 0; r < this.#width; r++) if ((this.#requested[r] ?? 0) > 0) best += this.#climb(block, r);
      }
      if (best - before < CONVERGED_SHARE * best) return;
    }
  }

  #demandVectorsOf(offeringGroups: readonly number[]): Int32Array {
    const touched = new Set(offeringGroups);
    this.#work += this.#usable.length * this.#rows.length;
    const kinds = new Set(this.#usable.flatMap((list, kind) => (list.some((c) => touched.has(c)) ? [kind] : [])));
    return Int32Array.from([...this.#kindOf].flatMap((kind, i) => (kinds.has(kind) ? [i] : [])));
  }

  /** Tries other worths of one resource in some cells; returns the gain. */
  #climb(block: Block, r: number): number {
    let gain = 0;
    if (block.offeringGroups.every((c) => (this.#shadowPrices[c * this.#width + r] ?? 0) === 0)) return 0;
    for (const factor of STEP_FACTORS) {
      for (const c of block.offeringGroups) {
        for (let k = 0; k < this.#width; k++) {
          const at = c * this.#width + k;
          this.#trial[at] = (this.#shadowPrices[at] ?? 0) * (k === r ? factor : 1);
        }
      }
      const more = this.#tried(block);
      if (more <= 0) continue;
      gain += more;
      this.#accept(block);
    }
    return gain;
  }

  /** What all wants together would gain. The trial is scaled up or down until the best row of each cell is worth exactly its dollar. */
  #tried({ offeringGroups, demandVectors }: Block): number {
    const width = this.#width;
    for (const c of offeringGroups) {
      const most = this.#maxValueOf(c);
      if (most > 0) for (let k = c * width; k < (c + 1) * width; k++) this.#trial[k] = (this.#trial[k] ?? 0) / most;
      this.#isTried[c] = 1;
    }
    let gain = 0;
    for (const i of demandVectors) {
      const least = this.#minValueOf(i);
      this.#trialLeast[i] = least;
      gain += least - (this.#least[i] ?? 0);
    }
    for (const c of offeringGroups) this.#isTried[c] = 0;
    return gain;
  }

  #maxValueOf(c: number): number {
    const width = this.#width;
    const rows = this.#rows[c] ?? this.#requested;
    let most = 0;
    for (let row = 0; row < rows.length; row += width) {
      let value = 0;
      for (let k = 0; k < width; k++) value += (rows[row + k] ?? 0) * (this.#trial[c * width + k] ?? 0);
      if (value > most) most = value;
    }
    return most;
  }

  #minValueOf(i: number): number {
    const width = this.#width;
    const usable = this.#usable[this.#kindOf[i] ?? 0];
    if (usable === undefined || usable.length === 0) return 0;
    this.#work += usable.length * width;
    let least = Number.POSITIVE_INFINITY;
    for (const c of usable) {
      let value = this.#values[c * this.#least.length + i] ?? 0;
      if (this.#isTried[c] === 1) {
        value = 0;
        for (let k = 0; k < width; k++) value += (this.#demandVectors[i * width + k] ?? 0) * (this.#trial[c * width + k] ?? 0);
      }
      if (value < least) least = value;
    }
    return least;
  }

  #accept({ offeringGroups, demandVectors }: Block): void {
    for (const c of offeringGroups) {
      for (let k = c * this.#width; k < (c + 1) * this.#width; k++) this.#shadowPrices[k] = this.#trial[k] ?? 0;
    }
    for (const i of demandVectors) {
      this.#least[i] = this.#trialLeast[i] ?? 0;
      for (const c of offeringGroups) {
        let value = 0;
        for (let k = 0; k < this.#width; k++)
          value += (this.#demandVectors[i * this.#width + k] ?? 0) * (this.#shadowPrices[c * this.#width + k] ?? 0);
        this.#values[c * this.#least.length + i] = value;
      }
    }
  }
}

/** Cells whose worths change together, and the wants that may use some of them. */
interface Block {
  readonly offeringGroups: readonly number[];
  readonly demandVectors: Int32Array;
}

/** Room for a dollar an hour, one row of amounts after another, without rows that another equals or outdoes: those constrain nothing. */
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
