import type { Item, PlacementKind } from "./demand.ts";
import type { OfferingGroup } from "./offering-groups.ts";
import { dot, type ShadowPrices } from "./shadow-prices.ts";

/** Stock and how many of its pods, in the order in which they were put on a machine. */
export type Contents = readonly (readonly [item: number, pods: number])[];

/** A pod whose shadowPrices here is less than this share of what its room is worth is better off elsewhere: it only fills gaps. */
const HOME_SHARE = 0.95;
/** Pods at home in 2ⁿ cells or more make up tier n, up to this one; it holds those that are not at home. */
const FOREIGN_TIER = 6;
/** Stocks are sorted by tilt into as many buckets. */
const SKEW_BUCKETS = 10;
/** Weight of a pod's size, against its tilt, in what is put on a machine next. */
const SIZE_WEIGHT = 0.5;
/** What can be put on a machine of pods with rules about company before others, when they go first. */
const HOST_RULE_BONUS = 2;
/** Of alike pods that fit, one in so many is put on a machine at once: what should lie beside them changes with the room that is left. */
const PORTION_DIVISOR = 6;

/**
 * Fills machines so that little room is left over: what leans most to one resource is put beside what leans most to the other, large pods before small,
 * those that have little choice before those that could go elsewhere, and pods for which the machine is dear only where nothing else fits. Amounts lie in
 * flat arrays: a run fills thousands of machines.
 */
export class GreedyKnapsack {
  /** Pods left by stock. */
  readonly left: Int32Array;
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  readonly #width: number;
  /** By stock: what one pod asks for. */
  readonly #vectors: Float64Array;
  readonly #sizes: Float64Array;
  readonly #resourceSkews: Float64Array;
  readonly #hasHostRules: Uint8Array;
  /** By stock: a number for the labels that it wants and machines do not bring; 0 for none. */
  readonly #customs: Int32Array;
  /** By kind: the tier of its pods where they are at home. */
  readonly #choice: readonly number[];
  /** By cell and stock. */
  readonly #home: readonly Uint8Array[];
  /** Mean worth of a unit of each resource, and the resource that is worth most in all. */
  readonly #mean: Float64Array;
  readonly #main: number;
  /** By kind: its stocks, large first. */
  readonly #ofKind: readonly (readonly number[])[];
  /** By bucket of tilt: stocks, large first; and those of them that have pods. */
  readonly #buckets: readonly (readonly number[])[];
  #active: readonly (readonly number[])[] = [];
  /** By cell: tiers of buckets. */
  #lists: (readonly (readonly Int32Array[])[] | undefined)[] = [];
  /** Room left on the machine in hand. */
  readonly #rest: Float64Array;
  readonly #taken: Int32Array;
  /** By group: pods on the machine in hand that count in it. */
  readonly #hosts: Int32Array;
  #custom = 0;

  constructor(
    kinds: readonly PlacementKind[],
    items: readonly Item[],
    offeringGroups: readonly OfferingGroup[],
    shadowPrices: ShadowPrices,
    choice: readonly number[],
    width: number,
  ) {
    this.#items = items;
    this.#offeringGroups = offeringGroups;
    this.#width = width;
    this.#vectors = Float64Array.from(items.flatMap(({ vector }) => [...vector]));
    this.#mean = shadowPrices.mean(items, width);
    this.#main = mainResource(items, this.#mean);
    this.#sizes = Float64Array.from(items, ({ vector }) => dot(this.#mean, vector));
    this.#resourceSkews = Float64Array.from(items, ({ vector }) => this.#resourceSkew(vector));
    this.#hasHostRules = Uint8Array.from(items, ({ rules }) => (rules.length > 0 ? 1 : 0));
    const numbers = new Map([["", 0]]);
    this.#customs = Int32Array.from(items, ({ kind }) => {
      const text = kinds[kind]?.custom ?? "";
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    });
    this.#choice = choice.map((homes) => Math.min(FOREIGN_TIER - 1, Math.floor(Math.log2(Math.max(1, homes)))));
    const values = items.map((item) => shadowPrices.valueOfPod(item));
    this.#home = shadowPrices.byGroup.map((prices) =>
      Uint8Array.from(items, ({ vector }, s) => ((values[s] ?? 0) >= HOME_SHARE * dot(prices, vector) ? 1 : 0)),
    );
    const largeFirst = (a: number, b: number): number => (this.#sizes[b] ?? 0) - (this.#sizes[a] ?? 0) || a - b;
    this.#ofKind = kinds.map((_, kind) => items.flatMap((item, s) => (item.kind === kind ? [s] : [])).sort(largeFirst));
    const buckets: number[][] = Array.from({ length: SKEW_BUCKETS }, () => []);
    this.#resourceSkews.forEach((resourceSkew, s) => {
      buckets[Math.min(SKEW_BUCKETS - 1, Math.floor(resourceSkew * SKEW_BUCKETS))]?.push(s);
    });
    this.#buckets = buckets.map((bucket) => bucket.sort(largeFirst));
    this.left = new Int32Array(items.length);
    this.#rest = new Float64Array(width);
    this.#taken = new Int32Array(items.length);
    const groups = items.flatMap(({ rules, counting }) => [...rules.map(({ group }) => group), ...counting]);
    this.#hosts = new Int32Array(1 + groups.reduce((most, group) => Math.max(most, group), 0));
  }

  /** Starts anew with so many pods of each stock. */
  start(pods: Int32Array): void {
    this.left.set(pods);
    this.#lists = [];
    this.#active = this.#buckets.map((bucket) => bucket.filter((s) => (pods[s] ?? 0) > 0));
  }

  /** A stock of a kind that has pods left; -1 without one. */
  remaining(kind: number): number {
    for (const s of this.#ofKind[kind] ?? []) if ((this.left[s] ?? 0) > 0) return s;
    return -1;
  }

  /** Whether the pods of a stock are not shadowPrices much more elsewhere than in a cell. */
  isHome(offeringGroup: number, item: number): boolean {
    return this.#home[offeringGroup]?.[item] === 1;
  }

  /** Fills a machine that is sought for a kind; empty when it does not take a single pod of it. Nothing is taken from `left`. */
  fill(offeringGroup: number, room: Float64Array, kind: number, hostRulesFirst: boolean): Contents {
    this.#rest.set(room);
    this.#custom = 0;
    const order: number[] = [];
    // The machine is sought for one of these; what suits it best comes after.
    const first = this.#ofKind[kind]?.find((s) => this.#fits(s));
    if (first === undefined) return order as [];
    this.#put(first, 1, order);
    const even = this.#resourceSkew(room);
    for (const buckets of this.#listsOf(offeringGroup)) this.#fillFrom(buckets, even, hostRulesFirst, order);
    const contents = order.map((s) => [s, this.#taken[s] ?? 0] as const);
    for (const s of order) {
      this.#taken[s] = 0;
      for (const group of this.#items[s]?.counting ?? []) this.#hosts[group] = 0;
    }
    return contents;
  }

  #fillFrom(buckets: readonly Int32Array[], even: number, hostRulesFirst: boolean, order: number[]): void {
    const at = new Int32Array(buckets.length);
    for (;;) {
      const restSize = dot(this.#mean, this.#rest);
      const sign = this.#resourceSkew(this.#rest) >= even ? 1 : -1;
      let pick = -1;
      let best = Number.NEGATIVE_INFINITY;
      for (let b = 0; b < buckets.length; b++) {
        const list = buckets[b];
        if (list === undefined) continue;
        let i = at[b] ?? 0;
        // Room and company only get worse: what does not fit now never will.
        while (i < list.length && !this.#fits(list[i] ?? 0)) i++;
        at[b] = i;
        const s = list[i];
        if (s === undefined) continue;
        const isFirst = hostRulesFirst && this.#hasHostRules[s] === 1;
        const score =
          sign * (this.#resourceSkews[s] ?? 0) +
          SIZE_WEIGHT * Math.min(1, (this.#sizes[s] ?? 0) / restSize) +
          (isFirst ? HOST_RULE_BONUS : 0);
        if (score > best) [best, pick] = [score, s];
      }
      if (pick < 0) return;
      this.#put(pick, this.#portion(pick), order);
    }
  }

  #put(s: number, pods: number, order: number[]): void {
    if (this.#taken[s] === 0) order.push(s);
    this.#taken[s] = (this.#taken[s] ?? 0) + pods;
    for (let r = 0; r < this.#width; r++) this.#rest[r] = (this.#rest[r] ?? 0) - pods * (this.#vectors[s * this.#width + r] ?? 0);
    for (const group of this.#items[s]?.counting ?? []) this.#hosts[group] = (this.#hosts[group] ?? 0) + pods;
    if (this.#custom === 0) this.#custom = this.#customs[s] ?? 0;
  }

  #fits(s: number): boolean {
    if ((this.left[s] ?? 0) <= (this.#taken[s] ?? 0)) return false;
    const row = s * this.#width;
    for (let r = 0; r < this.#width; r++) if ((this.#vectors[row + r] ?? 0) > (this.#rest[r] ?? 0)) return false;
    const custom = this.#customs[s];
    if (custom !== 0 && this.#custom !== 0 && custom !== this.#custom) return false;
    if (this.#hasHostRules[s] === 0) return true;
    for (const { group, most } of this.#items[s]?.rules ?? []) if ((this.#hosts[group] ?? 0) > most) return false;
    return true;
  }

  #portion(s: number): number {
    const item = this.#items[s];
    if (item === undefined || item.rules.length + item.counting.length > 0) return 1;
    let most = (this.left[s] ?? 0) - (this.#taken[s] ?? 0);
    for (let r = 0; r < this.#width; r++) {
      const amount = item.vector[r] ?? 0;
      if (amount > 0) most = Math.min(most, Math.floor((this.#rest[r] ?? 0) / amount));
    }
    return Math.max(1, Math.floor(most / PORTION_DIVISOR));
  }

  #listsOf(offeringGroup: number): readonly (readonly Int32Array[])[] {
    const known = this.#lists[offeringGroup];
    if (known !== undefined) return known;
    const served = new Set(this.#offeringGroups[offeringGroup]?.kinds);
    const tiers = Array.from({ length: FOREIGN_TIER + 1 }, () => Array.from({ length: SKEW_BUCKETS }, (): number[] => []));
    this.#active.forEach((bucket, b) => {
      for (const s of bucket) {
        const kind = this.#items[s]?.kind ?? 0;
        if ((this.left[s] ?? 0) === 0 || !served.has(kind)) continue;
        tiers[this.isHome(offeringGroup, s) ? (this.#choice[kind] ?? 0) : FOREIGN_TIER]?.[b]?.push(s);
      }
    });
    const lists = tiers.flatMap((buckets) => {
      const filled = buckets.filter((list) => list.length > 0).map((list) => Int32Array.from(list));
      return filled.length === 0 ? [] : [filled];
    });
    this.#lists[offeringGroup] = lists;
    return lists;
  }

  /** The part that the main resource has in what an amount is shadowPrices, 0 to 1. */
  #resourceSkew(vector: Float64Array): number {
    const size = dot(this.#mean, vector);
    return size > 0 ? ((this.#mean[this.#main] ?? 0) * (vector[this.#main] ?? 0)) / size : 0.5;
  }
}

function mainResource(items: readonly Item[], mean: Float64Array): number {
  const totals = mean.map((value, r) => items.reduce((sum, { vector, pods }) => sum + pods * value * (vector[r] ?? 0), 0));
  return totals.reduce((best, value, r) => (value > (totals[best] ?? 0) ? r : best), 0);
}
