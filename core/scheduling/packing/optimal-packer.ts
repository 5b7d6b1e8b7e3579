import { hasRoom } from "../tables/resource-axis.ts";
import type { Demand, Item, PlacementKind } from "./demand.ts";
import type { Contents } from "./greedy-knapsack.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";
import type { NodeBatch } from "./packer.ts";

/** Larger demands are not packed: the product of their numbers of pods by item, each plus one. */
const MAX_STATES = 4096;
/**
 * Steps that one packer may do, of a few nanoseconds each. Plans are above the optimum by 2.1 % without any, 0.5 % with
 * a million and 0.4 % with two (`npm run -s bench:optimum`).
 */
const MAX_STEPS = 2_000_000;
/** Added to the loss that a node may have, USD per hour, because losses are differences of sums of floats. */
const TOLERANCE = 1e-9;

/** A node option with its offering group. */
interface PooledOption {
  readonly offeringGroup: number;
  readonly option: NodeOption;
  /** USD per hour: the instance and the node's own cost. */
  readonly cost: number;
}

/** Node options of all offering groups that serve the same of some kinds. */
interface OptionPool {
  readonly kinds: ReadonlySet<number>;
  /** By rising cost, without options that have no more of any resource than a cheaper one. */
  readonly options: readonly PooledOption[];
}

/** A demand in numbers: a state is a number of pods by item, its index is the sum of pods × stride. */
interface Axes {
  readonly items: readonly Item[];
  readonly names: readonly number[];
  readonly pods: Int32Array;
  readonly strides: Int32Array;
  readonly states: number;
}

/**
 * Packs few pods at the lowest cost that there is: dynamic programming over the number of pods of each item that have a
 * node. The work grows with the product of these numbers, so it suits the pods of a few nodes, or a small plan.
 *
 * Of contents only those are combined that a packing cheaper than a known one can have: no node costs less than its
 * pods are worth at shadow prices, so a single node may lose at most what the known packing loses in all.
 *
 *     const packer = new OptimalPacker(demand, offeringGroups, values);
 *     packer.pack([[0, 3], [1, 4]], 1.2); // the cheapest nodes for 3 pods of item 0 and 4 of item 1, if below 1.20
 */
export class OptimalPacker {
  readonly #kinds: readonly PlacementKind[];
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  /** By item: value of one pod at shadow prices, USD per hour. */
  readonly #values: Float64Array;
  readonly #pools = new Map<string, readonly OptionPool[]>();
  readonly #maxSteps: number;
  #steps = 0;

  /** `values`: by item, the value of one pod at shadow prices, USD per hour; 0 where they are not known. */
  constructor({ kinds, items }: Demand, offeringGroups: readonly OfferingGroup[], values: Float64Array, maxSteps = MAX_STEPS) {
    this.#kinds = kinds;
    this.#items = items;
    this.#offeringGroups = offeringGroups;
    this.#values = values;
    this.#maxSteps = maxSteps;
  }

  /** Whether the packer has taken its steps. */
  get isSpent(): boolean {
    return this.#steps > this.#maxSteps;
  }

  /**
   * Nodes of one each that cost `below` at most, USD per hour; empty without such nodes, undefined when the demand is
   * too large or no steps are left.
   */
  pack(demand: Contents, below = Number.POSITIVE_INFINITY): readonly NodeBatch[] | undefined {
    const axes = this.#axesOf(demand);
    if (axes === undefined) return undefined;
    const { states, pods } = axes;
    const costs = new Float64Array(states).fill(Number.POSITIVE_INFINITY);
    const cheapest: (PooledOption | undefined)[] = new Array(states);
    for (const pool of this.#poolsFor(axes)) this.#price(pool, axes, costs, cheapest);
    const value = demand.reduce((sum, [item, n]) => sum + n * (this.#values[item] ?? 0), 0);
    const full = this.#fullContents(axes, costs, below - value + TOLERANCE);
    if (full.length * states * pods.length > 2 * (this.#maxSteps - this.#steps)) return undefined;
    const choices = this.#covered(axes, costs, full, below);
    return choices === undefined ? [] : this.#nodes(axes, choices, cheapest);
  }

  #axesOf(demand: Contents): Axes | undefined {
    let states = 1;
    const strides: number[] = [];
    for (const [, pods] of demand) {
      strides.push(states);
      states *= pods + 1;
      if (states > MAX_STATES) return undefined;
    }
    return {
      items: demand.flatMap(([item]) => this.#items[item] ?? []),
      names: demand.map(([item]) => item),
      pods: Int32Array.from(demand, ([, pods]) => pods),
      strides: Int32Array.from(strides),
      states,
    };
  }

  /** The node options for some items, by the kinds that they serve. */
  #poolsFor({ items }: Axes): readonly OptionPool[] {
    const kinds = [...new Set(items.map(({ kind }) => kind))].sort((a, b) => a - b);
    const text = kinds.join();
    const known = this.#pools.get(text);
    if (known !== undefined) return known;
    const byServed = new Map<string, { readonly kinds: ReadonlySet<number>; readonly options: PooledOption[] }>();
    this.#offeringGroups.forEach(({ kinds: served, options }, offeringGroup) => {
      const here = kinds.filter((kind) => served.includes(kind));
      if (here.length === 0) return;
      const pool = byServed.get(here.join()) ?? { kinds: new Set(here), options: [] };
      byServed.set(here.join(), pool);
      for (const option of options) pool.options.push({ offeringGroup, option, cost: option.price + option.nodeCost });
    });
    const pools = [...byServed.values()].map(({ kinds: served, options }) => {
      const kept = undominated(options);
      this.#steps += options.length * kept.length;
      return { kinds: served, options: kept };
    });
    this.#pools.set(text, pools);
    return pools;
  }

  /** Notes the cheapest option of a pool for all contents that it can hold. */
  #price({ kinds, options }: OptionPool, axes: Axes, costs: Float64Array, cheapest: (PooledOption | undefined)[]): void {
    const own = axes.items.flatMap(({ kind }, i) => (kinds.has(kind) ? [i] : []));
    const need = new Float64Array(options[0]?.option.room.length ?? 0);
    const counts = new Int32Array(axes.items.length);
    const visit = (depth: number, at: number, from: number, custom: string): void => {
      let o = from;
      while (o < options.length && !hasRoom(options[o]?.option.room ?? need, 0, need)) o++;
      this.#steps += 2 + o - from;
      const option = options[o];
      if (option === undefined) return;
      const i = own[depth];
      const item = axes.items[i ?? -1];
      if (i === undefined || item === undefined) {
        if (option.cost < (costs[at] ?? 0) && keepsHostRules(axes.items, counts)) {
          costs[at] = option.cost;
          cheapest[at] = option;
        }
        return;
      }
      const { vector, kind } = item;
      const label = this.#kinds[kind]?.custom ?? "";
      const most = label !== "" && custom !== "" && label !== custom ? 0 : (axes.pods[i] ?? 0);
      for (let n = 0; n <= most; n++) {
        counts[i] = n;
        visit(depth + 1, at + n * (axes.strides[i] ?? 0), o, n > 0 && label !== "" ? label : custom);
        for (let r = 0; r < need.length; r++) need[r] = (need[r] ?? 0) + (vector[r] ?? 0);
      }
      for (let r = 0; r < need.length; r++) need[r] = (need[r] ?? 0) - (most + 1) * (vector[r] ?? 0);
      counts[i] = 0;
    };
    visit(0, 0, 0, "");
  }

  /**
   * Contents to which no pod can be added at the same cost, and whose node costs at most `maxLoss` more than the value
   * of their pods, USD per hour.
   */
  #fullContents({ names, pods, strides, states }: Axes, costs: Float64Array, maxLoss: number): readonly Int32Array[] {
    const full: Int32Array[] = [];
    const left = new Int32Array(pods.length);
    let value = 0;
    for (let at = 1; at < states; at++) {
      let next = 0;
      for (; left[next] === pods[next]; next++) {
        value -= (left[next] ?? 0) * (this.#values[names[next] ?? 0] ?? 0);
        left[next] = 0;
      }
      left[next] = (left[next] ?? 0) + 1;
      value += this.#values[names[next] ?? 0] ?? 0;
      const cost = costs[at] ?? Number.POSITIVE_INFINITY;
      if (cost === Number.POSITIVE_INFINITY || cost - value > maxLoss) continue;
      let isFull = true;
      for (let i = 0; i < pods.length && isFull; i++) {
        const stride = strides[i] ?? 1;
        isFull = left[i] === pods[i] || (costs[at + stride] ?? 0) > cost;
      }
      if (!isFull) continue;
      const contents = new Int32Array(pods.length + 1);
      contents[0] = at;
      contents.set(left, 1);
      full.push(contents);
    }
    this.#steps += states * pods.length;
    return full;
  }

  /**
   * By state, the state that is left after the best first node; undefined without nodes that cost `below` at most. The
   * cost of a state is the least over all contents that have pods of its last item: cost of the node and of what is left.
   */
  #covered({ pods, strides, states }: Axes, costs: Float64Array, full: readonly Int32Array[], below: number): Int32Array | undefined {
    const byItem = Array.from(pods, (_, i) => full.filter((contents) => (contents[i + 1] ?? 0) > 0));
    const lowest = new Float64Array(states).fill(Number.POSITIVE_INFINITY);
    lowest[0] = 0;
    const rest = new Int32Array(states);
    const left = new Int32Array(pods.length);
    for (let at = 1; at < states; at++) {
      let i = 0;
      for (; left[i] === pods[i]; i++) left[i] = 0;
      left[i] = (left[i] ?? 0) + 1;
      let last = pods.length - 1;
      while (left[last] === 0) last--;
      const candidates = byItem[last] ?? [];
      let best = Number.POSITIVE_INFINITY;
      for (const contents of candidates) {
        const cost = costs[contents[0] ?? 0] ?? 0;
        if (cost >= best) continue;
        let next = at;
        for (let j = 0; j <= last; j++) next -= Math.min(left[j] ?? 0, contents[j + 1] ?? 0) * (strides[j] ?? 0);
        const total = cost + (lowest[next] ?? 0);
        if (total < best) {
          best = total;
          rest[at] = next;
        }
      }
      this.#steps += candidates.length * 2;
      lowest[at] = best;
    }
    const cost = lowest[states - 1] ?? Number.POSITIVE_INFINITY;
    return cost === Number.POSITIVE_INFINITY || cost > below ? undefined : rest;
  }

  #nodes({ names, pods, strides, states }: Axes, rest: Int32Array, cheapest: readonly (PooledOption | undefined)[]): readonly NodeBatch[] {
    const nodes: NodeBatch[] = [];
    for (let at = states - 1; at > 0; at = rest[at] ?? 0) {
      const taken = at - (rest[at] ?? 0);
      const pooled = cheapest[taken];
      if (pooled === undefined) return [];
      const contents = names.flatMap((item, i) => {
        const n = Math.floor(taken / (strides[i] ?? 1)) % ((pods[i] ?? 0) + 1);
        return n > 0 ? [[item, n] as const] : [];
      });
      const podValue = contents.reduce((sum, [item, n]) => sum + n * (this.#values[item] ?? 0), 0);
      const { offeringGroup, option, cost } = pooled;
      nodes.push({ offeringGroup, contents, nodes: 1, type: option.type, price: cost, loss: cost - podValue });
    }
    return nodes;
  }
}

/** Whether each item may be the last one put on a host with these numbers of pods. */
function keepsHostRules(items: readonly Item[], counts: Int32Array): boolean {
  return items.every(({ rules, counting }, i) => {
    if (counts[i] === 0 || rules.length === 0) return true;
    return rules.every(({ group, maxPresent }) => {
      let present = counting.includes(group) ? -1 : 0;
      items.forEach((other, j) => {
        if (other.counting.includes(group)) present += counts[j] ?? 0;
      });
      return present <= maxPresent;
    });
  });
}

/** Options by rising cost, without those that have no more of any resource than a cheaper one. */
function undominated(options: readonly PooledOption[]): readonly PooledOption[] {
  const kept: PooledOption[] = [];
  for (const pooled of options.toSorted((a, b) => a.cost - b.cost)) {
    // The last ones first: an option that is little cheaper is the most likely to have as much of everything.
    let at = kept.length - 1;
    while (at >= 0 && !hasRoom((kept[at] as PooledOption).option.room, 0, pooled.option.room)) at--;
    if (at < 0) kept.push(pooled);
  }
  return kept;
}
