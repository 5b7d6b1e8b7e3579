import type { Item, PlacementKind } from "./demand.ts";
import type { OfferingGroup } from "./offering-groups.ts";
import { dot, type ShadowPrices } from "./shadow-prices.ts";

/** Items with their number of pods on one node, in the order in which they were put there. */
export type Contents = readonly (readonly [item: number, pods: number])[];

// The numbers below came with the packer, which `npm run -s bench` judged as a whole against its lower bounds (5,000
// pods of deployments); no benchmark has tuned one of them alone.

/**
 * An offering group is competitive for an item whose value is at least this share of what the group's shadow prices ask
 * for it.
 */
const MIN_COMPETITIVE_SHARE = 0.95;
/**
 * The last tier holds items for which the offering group is not competitive. Other items of kinds with 2ⁿ or more
 * groups are in tier n.
 */
const GAP_FILLING_TIER = 6;
/** Number of buckets by resource skew; the best item of each bucket is compared with those of the others. */
const SKEW_BUCKETS = 10;
/** Weight of an item's size against its resource skew in the choice of the next item. */
const SIZE_WEIGHT = 0.5;
/** Added to the score of items with host rules when they go first: more than skew (1) and size (0.5) together. */
const HOST_RULE_BONUS = 2;
/**
 * Of the pods of an item that fit, 1/6 is put on a node at once, because the best item to go beside them changes with
 * the room left.
 */
const PORTION_DIVISOR = 6;

/** Items in a fixed order, of which the first `used` have no pods left. */
interface ItemList<L = Int32Array> {
  readonly items: L;
  used: number;
}

/**
 * Fills one node at a time with items: a greedy heuristic for the multi-dimensional knapsack problem, in the manner of
 * the dot-product heuristics of vector bin packing. Items that use mainly one resource go beside items that use mainly
 * another, large items before small ones, items with few offering groups to choose from before those with many. Items
 * for which the node's offering group is expensive only fill gaps. Amounts are in flat arrays because a run fills
 * thousands of nodes.
 *
 *     knapsack.start(Int32Array.of(8, 4)); // 8 pods of item 0, 4 pods of item 1
 *     knapsack.fill(group, option.room, kind, false); // [[1, 2], [0, 3]]: two pods of item 1, three of item 0
 */
export class GreedyKnapsack {
  /** By item: number of pods that have no node yet. */
  readonly left: Int32Array;
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  /** Number of resources. */
  readonly #width: number;
  /** Rows of `#width` amounts by item: requests of one pod in milli-units. */
  readonly #vectors: Float64Array;
  /** By item: value of one pod at mean shadow prices, USD per hour. */
  readonly #sizes: Float64Array;
  readonly #resourceSkews: Float64Array;
  readonly #hasHostRules: Uint8Array;
  /** By kind: the tier of its items where the offering group is competitive. */
  readonly #tiers: readonly number[];
  /** By offering group and item: 1 where the group is competitive for the item. */
  readonly #competitive: readonly Uint8Array[];
  /** Mean shadow price of each resource (USD per hour and milli-unit). */
  readonly #mean: Float64Array;
  /** Index of the resource with the largest total value. */
  readonly #main: number;
  /** By kind: its items, large first. */
  readonly #ofKind: readonly (readonly number[])[];
  /** By kind: its items that had pods at the start, and how many of the first have none left. */
  #activeOfKind: readonly ItemList<readonly number[]>[] = [];
  /** By bucket of resource skew: items, large first. */
  readonly #buckets: readonly (readonly number[])[];
  /** The buckets with only those items that had pods at the start. */
  #active: readonly (readonly number[])[] = [];
  /** By offering group: tiers of buckets of items. */
  #lists: (readonly (readonly ItemList[])[] | undefined)[] = [];
  /** Items that were compared with a node's room: the work done so far. */
  steps = 0;
  /** Room left on the current node. */
  readonly #roomLeft: Float64Array;
  /** By item: number of its pods on the current node. */
  readonly #taken: Int32Array;
  /** By topology group: number of pods on the current node that count in it. */
  readonly #hostCounts: Int32Array;

  /** `groupCounts`: by kind, the number of offering groups from which nodes are launched for it. */
  constructor(
    kinds: readonly PlacementKind[],
    items: readonly Item[],
    offeringGroups: readonly OfferingGroup[],
    shadowPrices: ShadowPrices,
    groupCounts: readonly number[],
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
    this.#tiers = groupCounts.map((groups) => Math.min(GAP_FILLING_TIER - 1, Math.floor(Math.log2(Math.max(1, groups)))));
    const values = items.map((item) => shadowPrices.valueOfPod(item));
    this.#competitive = shadowPrices.byGroup.map((prices) =>
      Uint8Array.from(items, ({ vector }, s) => ((values[s] ?? 0) >= MIN_COMPETITIVE_SHARE * dot(prices, vector) ? 1 : 0)),
    );
    const largeFirst = (a: number, b: number): number => (this.#sizes[b] ?? 0) - (this.#sizes[a] ?? 0) || a - b;
    this.#ofKind = kinds.map((_, kind) => items.flatMap((item, s) => (item.kind === kind ? [s] : [])).sort(largeFirst));
    const buckets: number[][] = Array.from({ length: SKEW_BUCKETS }, () => []);
    this.#resourceSkews.forEach((resourceSkew, s) => {
      buckets[Math.min(SKEW_BUCKETS - 1, Math.floor(resourceSkew * SKEW_BUCKETS))]?.push(s);
    });
    this.#buckets = buckets.map((bucket) => bucket.sort(largeFirst));
    this.left = new Int32Array(items.length);
    this.#roomLeft = new Float64Array(width);
    this.#taken = new Int32Array(items.length);
    const groups = items.flatMap(({ rules, counting }) => [...rules.map(({ group }) => group), ...counting]);
    this.#hostCounts = new Int32Array(1 + groups.reduce((highest, group) => Math.max(highest, group), 0));
  }

  /** Starts a packing with so many pods of each item. */
  start(pods: Int32Array): void {
    this.left.set(pods);
    this.#lists = [];
    const hasPods = (s: number): boolean => (pods[s] ?? 0) > 0;
    this.#active = this.#buckets.map((bucket) => bucket.filter(hasPods));
    this.#activeOfKind = this.#ofKind.map((items) => ({ items: items.filter(hasPods), used: 0 }));
  }

  /** The largest item of a kind that has pods left; -1 without one. */
  remaining(kind: number): number {
    const active = this.#activeOfKind[kind];
    return active === undefined ? -1 : (active.items[this.#skipUsed(active)] ?? -1);
  }

  /** The largest item of a kind that fits the current node; undefined without one. */
  #firstFitting(kind: number): number | undefined {
    if (this.remaining(kind) < 0) return undefined;
    const { items, used } = this.#activeOfKind[kind] ?? { items: [], used: 0 };
    for (let i = used; i < items.length; i++) {
      const s = items[i];
      if (s !== undefined && this.#fits(s)) return s;
    }
    return undefined;
  }

  /**
   * Whether a node of the offering group is about as cheap for the item as one of its cheapest group
   * (MIN_COMPETITIVE_SHARE).
   */
  isCompetitive(offeringGroup: number, item: number): boolean {
    return this.#competitive[offeringGroup]?.[item] === 1;
  }

  /**
   * The contents of a node of an offering group with `room`, which is launched for a kind: at least one pod of that
   * kind, else empty. `left` does not change.
   */
  fill(offeringGroup: number, room: Float64Array, kind: number, hostRulesFirst: boolean): Contents {
    this.#roomLeft.set(room);
    const order: number[] = [];
    // The node is launched for a pod of this kind, so one goes first; the items that suit the node best follow.
    const first = this.#firstFitting(kind);
    if (first === undefined) return order as [];
    this.#put(first, 1, order);
    const nodeSkew = this.#resourceSkew(room);
    for (const buckets of this.#listsOf(offeringGroup)) this.#fillFrom(buckets, nodeSkew, hostRulesFirst, order);
    const contents = order.map((s) => [s, this.#taken[s] ?? 0] as const);
    for (const s of order) {
      this.#taken[s] = 0;
      for (const group of this.#items[s]?.counting ?? []) this.#hostCounts[group] = 0;
    }
    return contents;
  }

  /**
   * Adds items of one tier until none fits: of the largest item of each bucket, the one with the best score is next.
   */
  #fillFrom(buckets: readonly ItemList[], nodeSkew: number, hostRulesFirst: boolean, order: number[]): void {
    const at = Int32Array.from(buckets, (list) => this.#skipUsed(list));
    for (;;) {
      const roomValue = dot(this.#mean, this.#roomLeft);
      // Positive while the room left has more of the main resource than an empty node: then items that use it are
      // better.
      const sign = this.#resourceSkew(this.#roomLeft) >= nodeSkew ? 1 : -1;
      let pick = -1;
      let best = Number.NEGATIVE_INFINITY;
      for (let b = 0; b < buckets.length; b++) {
        const list = buckets[b]?.items;
        if (list === undefined) continue;
        let i = at[b] ?? 0;
        // Room only shrinks and host counts only grow: an item that does not fit now will not fit later.
        while (i < list.length && !this.#fits(list[i] ?? 0)) i++;
        at[b] = i;
        const s = list[i];
        if (s === undefined) continue;
        const isFirst = hostRulesFirst && this.#hasHostRules[s] === 1;
        const score =
          sign * (this.#resourceSkews[s] ?? 0) +
          SIZE_WEIGHT * Math.min(1, (this.#sizes[s] ?? 0) / roomValue) +
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
    for (let r = 0; r < this.#width; r++) this.#roomLeft[r] = (this.#roomLeft[r] ?? 0) - pods * (this.#vectors[s * this.#width + r] ?? 0);
    for (const group of this.#items[s]?.counting ?? []) this.#hostCounts[group] = (this.#hostCounts[group] ?? 0) + pods;
  }

  /** Place of the first item of a list that has pods left. */
  #skipUsed(list: ItemList<Int32Array | readonly number[]>): number {
    while (list.used < list.items.length && (this.left[list.items[list.used] ?? 0] ?? 0) <= 0) list.used++;
    return list.used;
  }

  #fits(s: number): boolean {
    this.steps++;
    if ((this.left[s] ?? 0) <= (this.#taken[s] ?? 0)) return false;
    const row = s * this.#width;
    for (let r = 0; r < this.#width; r++) if ((this.#vectors[row + r] ?? 0) > (this.#roomLeft[r] ?? 0)) return false;
    if (this.#hasHostRules[s] === 0) return true;
    for (const { group, maxPresent } of this.#items[s]?.rules ?? []) if ((this.#hostCounts[group] ?? 0) > maxPresent) return false;
    return true;
  }

  /** Number of pods of an item to add at once; one where topology groups count them. */
  #portion(s: number): number {
    const item = this.#items[s];
    if (item === undefined || item.rules.length + item.counting.length > 0) return 1;
    let fitting = (this.left[s] ?? 0) - (this.#taken[s] ?? 0);
    for (let r = 0; r < this.#width; r++) {
      const amount = item.vector[r] ?? 0;
      if (amount > 0) fitting = Math.min(fitting, Math.floor((this.#roomLeft[r] ?? 0) / amount));
    }
    return Math.max(1, Math.floor(fitting / PORTION_DIVISOR));
  }

  /**
   * The tiers of an offering group, each with its buckets of items that have pods left; empty tiers and buckets are
   * left out.
   */
  #listsOf(offeringGroup: number): readonly (readonly ItemList[])[] {
    const known = this.#lists[offeringGroup];
    if (known !== undefined) return known;
    const served = new Set(this.#offeringGroups[offeringGroup]?.kinds);
    const tiers = Array.from({ length: GAP_FILLING_TIER + 1 }, () => Array.from({ length: SKEW_BUCKETS }, (): number[] => []));
    this.#active.forEach((bucket, b) => {
      for (const s of bucket) {
        const kind = this.#items[s]?.kind ?? 0;
        if ((this.left[s] ?? 0) === 0 || !served.has(kind)) continue;
        tiers[this.isCompetitive(offeringGroup, s) ? (this.#tiers[kind] ?? 0) : GAP_FILLING_TIER]?.[b]?.push(s);
      }
    });
    const lists = tiers.flatMap((buckets) => {
      const filled = buckets.filter((list) => list.length > 0).map((list) => ({ items: Int32Array.from(list), used: 0 }));
      return filled.length === 0 ? [] : [filled];
    });
    this.#lists[offeringGroup] = lists;
    return lists;
  }

  /** The main resource's share of a vector's value at mean shadow prices, 0 to 1. */
  #resourceSkew(vector: Float64Array): number {
    const size = dot(this.#mean, vector);
    return size > 0 ? ((this.#mean[this.#main] ?? 0) * (vector[this.#main] ?? 0)) / size : 0.5;
  }
}

/** Index of the resource with the largest value over all pods. */
function mainResource(items: readonly Item[], mean: Float64Array): number {
  const totals = mean.map((value, r) => items.reduce((sum, { vector, pods }) => sum + pods * value * (vector[r] ?? 0), 0));
  return totals.reduce((best, value, r) => (value > (totals[best] ?? 0) ? r : best), 0);
}
