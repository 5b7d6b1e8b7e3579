import { hasRoom } from "../tables/resource-axis.ts";
import type { Demand, Item } from "./demand.ts";
import type { Contents } from "./greedy-knapsack.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";
import type { NodeBatch } from "./packer.ts";

/** Larger demands are not packed: the product of their numbers of pods by item, each plus one. */
const MAX_STATES = 4096;
/**
 * Steps that one packer may do, of a few nanoseconds each. 400 cases of `npm run -s bench -- optimum` cost $577.28 with
 * a quarter of a million, $576.16 with half a million, $575.92 with a million and $575.91 with two.
 */
const MAX_STEPS = 1_000_000;
/** Added to the loss that a node may have, USD per hour, because losses are differences of sums of floats. */
const TOLERANCE = 1e-9;

const NO_STATE = -1;

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
  /** Options of these groups, by rising cost. */
  readonly all: readonly PooledOption[];
  /** Number of the options that were read. */
  seen: number;
  /** Among these, the options that have more of some resource than each cheaper one. */
  readonly options: PooledOption[];
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
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  /** By item: value of one pod at shadow prices, USD per hour. */
  readonly #values: Float64Array;
  /** Of all offering groups, by rising cost; undefined until first needed. */
  #sorted: readonly PooledOption[] | undefined;
  readonly #pools = new Map<string, readonly OptionPool[]>();
  readonly #maxSteps: number;
  #steps = 0;

  /** `values`: by item, the value of one pod at shadow prices, USD per hour; 0 where they are not known. */
  constructor({ items }: Demand, offeringGroups: readonly OfferingGroup[], values: Float64Array, maxSteps = MAX_STEPS) {
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
    const { states } = axes;
    const costs = new Float64Array(states).fill(Number.POSITIVE_INFINITY);
    const cheapest: (PooledOption | undefined)[] = new Array(states);
    for (const pool of this.#poolsFor(axes)) {
      this.#steps += extend(pool, below);
      this.#price(pool, axes, costs, cheapest);
    }
    const values = this.#valuesOf(axes);
    const full = this.#fullContents(axes, costs, values, below + TOLERANCE);
    const before = this.#covered(axes, costs, values, full, below + TOLERANCE);
    if (before === undefined) return undefined;
    return before[0] === NO_STATE ? [] : this.#nodes(axes, before, cheapest);
  }

  /** By state, the value of its pods at shadow prices, USD per hour. */
  #valuesOf({ names, pods, states }: Axes): Float64Array {
    const values = new Float64Array(states);
    let known = 1;
    for (let i = 0; i < names.length; i++) {
      const value = this.#values[names[i] ?? 0] ?? 0;
      for (let at = known; at < known * ((pods[i] ?? 0) + 1); at++) values[at] = (values[at - known] ?? 0) + value;
      known *= (pods[i] ?? 0) + 1;
    }
    return values;
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
    this.#sorted ??= this.#offeringGroups
      .flatMap(({ options }, offeringGroup) =>
        options.map((option): PooledOption => ({ offeringGroup, option, cost: option.price + option.nodeCost })),
      )
      .sort((a, b) => a.cost - b.cost);
    const byServed = new Map<string, { readonly kinds: ReadonlySet<number>; readonly all: PooledOption[] }>();
    const poolOf = this.#offeringGroups.map(({ kinds: served }) => {
      const here = kinds.filter((kind) => served.includes(kind));
      if (here.length === 0) return undefined;
      const pool = byServed.get(here.join()) ?? { kinds: new Set(here), all: [] };
      byServed.set(here.join(), pool);
      return pool;
    });
    for (const option of this.#sorted) poolOf[option.offeringGroup]?.all.push(option);
    const pools = [...byServed.values()].map((pool) => ({ ...pool, seen: 0, options: [] }));
    this.#pools.set(text, pools);
    return pools;
  }

  /** Notes the cheapest option of a pool for all contents that it can hold. */
  #price({ kinds, options }: OptionPool, axes: Axes, costs: Float64Array, cheapest: (PooledOption | undefined)[]): void {
    const own = axes.items.flatMap(({ kind }, i) => (kinds.has(kind) ? [i] : []));
    const need = new Float64Array(options[0]?.option.room.length ?? 0);
    const counts = new Int32Array(axes.items.length);
    const hasRules = axes.items.some(({ rules }) => rules.length > 0);
    const visit = (depth: number, at: number, from: number): void => {
      let o = from;
      while (o < options.length && !hasRoom(options[o]?.option.room ?? need, 0, need)) o++;
      this.#steps += 2 + o - from;
      const option = options[o];
      if (option === undefined) return;
      const i = own[depth];
      const item = axes.items[i ?? -1];
      if (i === undefined || item === undefined) {
        if (option.cost < (costs[at] ?? 0) && (!hasRules || keepsHostRules(axes.items, counts))) {
          costs[at] = option.cost;
          cheapest[at] = option;
        }
        return;
      }
      const { vector } = item;
      const most = axes.pods[i] ?? 0;
      for (let n = 0; n <= most; n++) {
        counts[i] = n;
        visit(depth + 1, at + n * (axes.strides[i] ?? 0), o);
        for (let r = 0; r < need.length; r++) need[r] = (need[r] ?? 0) + (vector[r] ?? 0);
      }
      for (let r = 0; r < need.length; r++) need[r] = (need[r] ?? 0) - (most + 1) * (vector[r] ?? 0);
      counts[i] = 0;
    };
    visit(0, 0, 0);
  }

  /**
   * Contents to which no pod can be added at the same cost, and whose node together with the value of all other pods
   * costs `below` at most, USD per hour. Rows of the content's state and its number of pods of each item.
   */
  #fullContents({ pods, strides, states }: Axes, costs: Float64Array, values: Float64Array, below: number): Int32Array {
    const full: number[] = [];
    const maxLoss = below - (values[states - 1] ?? 0);
    for (let at = 1; at < states; at++) {
      const cost = costs[at] ?? Number.POSITIVE_INFINITY;
      if (cost === Number.POSITIVE_INFINITY || cost - (values[at] ?? 0) > maxLoss) continue;
      let isFull = true;
      for (let i = 0; i < pods.length && isFull; i++) {
        const stride = strides[i] ?? 1;
        isFull = (costs[at + stride] ?? 0) > cost || Math.floor(at / stride) % ((pods[i] ?? 0) + 1) === pods[i];
      }
      if (!isFull) continue;
      full.push(at);
      for (let i = 0; i < pods.length; i++) full.push(Math.floor(at / (strides[i] ?? 1)) % ((pods[i] ?? 0) + 1));
    }
    this.#steps += states;
    return Int32Array.from(full);
  }

  /**
   * Shortest path from all pods to none: by state, the state before the node that leaves it, NO_STATE where no path
   * leads to. Each node takes pods of the state's last item. A state is left out when the nodes before it and the value
   * of its pods cost more than `below`. Undefined without steps left.
   */
  #covered(
    { pods, strides, states }: Axes,
    costs: Float64Array,
    values: Float64Array,
    full: Int32Array,
    below: number,
  ): Int32Array | undefined {
    const width = pods.length + 1;
    const byItem = Array.from(pods, (_, i) => {
      const rows: number[] = [];
      for (let row = 0; row < full.length; row += width) if ((full[row + i + 1] ?? 0) > 0) rows.push(row);
      return Int32Array.from(rows);
    });
    const spent = new Float64Array(states).fill(Number.POSITIVE_INFINITY);
    spent[states - 1] = 0;
    const before = new Int32Array(states).fill(NO_STATE);
    const left = pods.slice();
    for (let at = states - 1; at > 0; at--) {
      const cost = spent[at] ?? 0;
      if (cost + (values[at] ?? 0) <= below) {
        let last = pods.length - 1;
        while (left[last] === 0) last--;
        const rows = byItem[last] ?? full;
        this.#steps += 2 + rows.length * 2;
        if (this.isSpent) return undefined;
        for (let c = 0; c < rows.length; c++) {
          const row = rows[c] ?? 0;
          const total = cost + (costs[full[row] ?? 0] ?? 0);
          let next = at;
          for (let j = 0; j <= last; j++) next -= Math.min(left[j] ?? 0, full[row + j + 1] ?? 0) * (strides[j] ?? 0);
          if (total < (spent[next] ?? 0)) {
            spent[next] = total;
            before[next] = at;
          }
        }
      }
      let i = 0;
      for (; left[i] === 0; i++) left[i] = pods[i] ?? 0;
      left[i] = (left[i] ?? 0) - 1;
    }
    if ((spent[0] ?? 0) > below) before[0] = NO_STATE;
    return before;
  }

  #nodes(
    { names, pods, strides, states }: Axes,
    before: Int32Array,
    cheapest: readonly (PooledOption | undefined)[],
  ): readonly NodeBatch[] {
    const nodes: NodeBatch[] = [];
    for (let at = 0; at < states - 1; at = before[at] ?? states) {
      const taken = (before[at] ?? 0) - at;
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
    return nodes.reverse();
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

/** Reads the options of a pool that cost at most `below`; returns the steps. */
function extend(pool: OptionPool, below: number): number {
  const { all, options: kept } = pool;
  let steps = 0;
  for (let next = all[pool.seen]; next !== undefined && next.cost <= below; next = all[++pool.seen]) {
    // The last ones first: an option that is little cheaper is the most likely to have as much of everything.
    let at = kept.length - 1;
    while (at >= 0 && !hasRoom((kept[at] as PooledOption).option.room, 0, next.option.room)) at--;
    if (at < 0) kept.push(next);
    steps += kept.length;
  }
  return steps;
}
