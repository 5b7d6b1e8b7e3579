import { hasRoom } from "../tables/resource-axis.ts";
import type { Demand, Item, PlacementKind } from "./demand.ts";
import { type Contents, GreedyKnapsack } from "./greedy-knapsack.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";
import { dot, type ShadowPrices } from "./shadow-prices.ts";

/** Nodes with the same contents. */
export interface NodeBatch {
  /** Index of the OfferingGroup. */
  readonly offeringGroup: number;
  /** What each of the nodes holds. */
  readonly contents: Contents;
  /** Number of nodes. */
  readonly nodes: number;
  /** Index of the cheapest instance type of the group that holds the contents. */
  readonly type: number;
  /** USD per hour of one node: its instance and the node's own cost (NodeOption.nodeCost). */
  readonly price: number;
  /** Price of one node less the value of its pods at shadow prices, USD per hour. Lower is better. */
  readonly loss: number;
}

/** A part that is packed again must be cheaper by at least this, USD per hour. */
export const MIN_GAIN = 1e-6;

/** USD per hour of all nodes. */
export function priceOf(batches: readonly NodeBatch[]): number {
  return batches.reduce((sum, { price, nodes }) => sum + price * nodes, 0);
}

/** One variant of the packing heuristic. No variant is best for every demand, so several are tried. */
export interface PackingVariant {
  /** Items with host rules go first. */
  readonly hostRulesFirst: boolean;
  /**
   * Share, 0 to 1, of the extra price of a node of its own that is added to the value of a pod with host rules, as long
   * as more such pods than nodes are left. It favours small nodes, because many of them give such pods more hosts.
   */
  readonly spreadBonus: number;
}

// The first three numbers below came with the packer, which `npm run -s bench` judged as a whole against its lower
// bounds (5,000 pods of deployments); no benchmark has tuned one of them alone.

/**
 * The last contents of a kind's node are used again while their loss ratio exceeds that of the first node by no more
 * than this.
 */
const REFILL_LOSS_TOLERANCE = 0.015;
/**
 * Comparisons of an item with a node's room that one packer may do. They grow with items × nodes, so pods that are all
 * different need it (`npm run -s bench -- --shapes`); 50,000 pods of Karpenter's mix take half of it.
 */
const MAX_STEPS = 40_000_000;
/** Node options tried for each kind and half octave of the price (0.10 to 0.14 USD per hour, 0.14 to 0.20, …). */
const MAX_OPTIONS_PER_SIZE = 2;
/** Node options whose value per dollar is below this share of the best option's are not tried. */
const MIN_OPTION_VALUE_SHARE = 0.6;
/** A loss ratio must be lower by more than this to be better: ratios are quotients of sums of floats. */
const LOSS_RATIO_TOLERANCE = 1e-12;
/** The divisor of a loss ratio is at least this (USD per hour), so that contents without value do not divide by 0. */
const MIN_RATIO_VALUE = 1e-9;

/** A node option that the packer tries for a kind. */
interface RankedOption {
  readonly offeringGroup: number;
  readonly option: NodeOption;
  /** Value of the usable room at the kind's shadow prices, per dollar of the node's price. */
  readonly valuePerDollar: number;
  /**
   * Value of all its room at the group's shadow prices, USD per hour. No contents have a higher value (weak duality).
   */
  readonly maxValue: number;
}

/** A filled node option. */
interface FilledOption extends Pick<RankedOption, "offeringGroup" | "option"> {
  readonly contents: Contents;
  /** Value of the pods, USD per hour. */
  readonly podValue: number;
  /** Loss in USD per dollar of value of the pods for which the group is competitive; lower is better. */
  readonly lossRatio: number;
}

/**
 * Packs items into nodes: a constructive heuristic for variable-sized vector bin packing. For one kind of pods after
 * another the packer fills each candidate node option with the greedy knapsack, takes the one with the lowest loss
 * ratio (price less shadow value of the pods, per dollar of value), and repeats until no pod of the kind is left.
 *
 *     const packer = new Packer(demand, groups, shadowPrices, width);
 *     packer.pack(Int32Array.of(8, 4), variant); // [{ nodes: 2, contents: [[1, 2], [0, 4]], … }]
 */
export class Packer {
  readonly #kinds: readonly PlacementKind[];
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  readonly #shadowPrices: ShadowPrices;
  readonly #knapsack: GreedyKnapsack;
  /** By item: value of one pod at shadow prices, USD per hour. */
  readonly values: Float64Array;
  /** By item with host rules: how much more a node of its own would cost than the pod's value, USD per hour; else 0. */
  readonly #spreadBonuses: Float64Array;
  /** Kinds in the order of packing: those with the fewest offering groups first. */
  readonly #order: readonly number[];
  readonly #candidates: readonly (readonly RankedOption[])[];
  /** Items with host rules, and how many pods of each a host may have. */
  readonly #hostRuled: readonly { readonly s: number; readonly each: number }[];
  /** By offering group: total requests of the pods that the group serves. Room beyond that has no value. */
  readonly #requested: readonly Float64Array[];
  /** Value of the pods that have no node yet, USD per hour. */
  #leftValue = 0;
  /** Price of the best candidate for the kind with the largest value, USD per hour: an estimate of one node's price. */
  readonly #usualPrice: number;
  readonly #maxSteps: number;

  constructor(
    { kinds, items }: Demand,
    offeringGroups: readonly OfferingGroup[],
    shadowPrices: ShadowPrices,
    width: number,
    maxSteps = MAX_STEPS,
  ) {
    this.#maxSteps = maxSteps;
    this.#kinds = kinds;
    this.#items = items;
    this.#offeringGroups = offeringGroups;
    this.#shadowPrices = shadowPrices;
    this.values = Float64Array.from(items, (item) => shadowPrices.valueOfPod(item));
    this.#spreadBonuses = Float64Array.from(items, (item, s) =>
      item.rules.length > 0 ? Math.max(0, this.#priceAlone(item) - (this.values[s] ?? 0)) : 0,
    );
    this.#hostRuled = items.flatMap(({ rules }, s) =>
      rules.length === 0 ? [] : [{ s, each: 1 + Math.min(...rules.map(({ maxPresent }) => maxPresent)) }],
    );
    const groupCounts = kinds.map((_, kind) => shadowPrices.groupsServing(kind).length);
    this.#knapsack = new GreedyKnapsack(kinds, items, offeringGroups, shadowPrices, groupCounts, width);
    this.#order = kinds.map((_, kind) => kind).sort((a, b) => (groupCounts[a] ?? 0) - (groupCounts[b] ?? 0) || a - b);
    this.#requested = offeringGroups.map((offeringGroup) => requestedOf(offeringGroup, items, width));
    this.#candidates = kinds.map((_, kind) => this.#candidatesFor(kind, width));
    this.#usualPrice = this.#candidates[this.#largestKind()]?.[0]?.option.price ?? 1;
  }

  /** Whether the packer has taken its steps. */
  get isSpent(): boolean {
    return this.#knapsack.steps > this.#maxSteps;
  }

  /** Nodes for so many pods of each item. Pods that fit no candidate, or for which no steps are left, are left out. */
  pack(pods: Int32Array, variant: PackingVariant): readonly NodeBatch[] {
    return this.packBelow(pods, variant, Number.POSITIVE_INFINITY) ?? [];
  }

  /**
   * `pack`, or undefined as soon as the nodes must cost `below` or more (USD per hour): the value of the pods that have
   * no node yet is a lower bound of what they will cost.
   */
  packBelow(pods: Int32Array, variant: PackingVariant, below: number): readonly NodeBatch[] | undefined {
    const knapsack = this.#knapsack;
    knapsack.start(pods);
    let cost = 0;
    this.#leftValue = pods.reduce((sum, n, s) => sum + n * (this.values[s] ?? 0), 0);
    const batches: NodeBatch[] = [];
    for (const kind of this.#order) {
      let held: FilledOption | undefined;
      for (let item = knapsack.remaining(kind); item >= 0; item = knapsack.remaining(kind)) {
        if (this.isSpent) return batches;
        let best = held && this.#trial(held, kind, variant);
        if (held === undefined || best === undefined || best.lossRatio > held.lossRatio + REFILL_LOSS_TOLERANCE) {
          best = this.#best(kind, variant);
          held = best;
        }
        if (best === undefined) this.#leaveOut(item);
        else {
          const batch = this.#commit(best);
          cost += batch.price * batch.nodes;
          if (cost + this.#leftValue >= below) return undefined;
          batches.push(batch);
        }
      }
    }
    return batches;
  }

  #leaveOut(item: number): void {
    this.#leftValue -= (this.#knapsack.left[item] ?? 0) * (this.values[item] ?? 0);
    this.#knapsack.left[item] = 0;
  }

  /** The candidate of a kind with the lowest loss ratio, filled. */
  #best(kind: number, variant: PackingVariant): FilledOption | undefined {
    let best: FilledOption | undefined;
    const spreadBonuses = variant.spreadBonus * this.#spreadBonusesLeft();
    for (const candidate of this.#candidates[kind] ?? []) {
      // The value is bounded by that of the room and by that of the pods left, so this loss is a lower bound.
      const podValue = Math.min(candidate.maxValue, this.#leftValue) + spreadBonuses;
      const loss = candidate.option.price + candidate.option.nodeCost - podValue;
      if (best !== undefined && loss >= 0 && loss >= best.lossRatio * podValue) continue;
      const trial = this.#trial(candidate, kind, variant);
      if (trial !== undefined && (best === undefined || trial.lossRatio < best.lossRatio - LOSS_RATIO_TOLERANCE)) best = trial;
    }
    return best;
  }

  /** Upper bound of the spread bonuses on one node: of each item at most as many pods as its host rules allow. */
  #spreadBonusesLeft(): number {
    let sum = 0;
    for (const { s, each } of this.#hostRuled) sum += (this.#spreadBonuses[s] ?? 0) * Math.min(this.#knapsack.left[s] ?? 0, each);
    return sum;
  }

  /**
   * Makes as many nodes with these contents as there are pods for, of the cheapest option of the group that holds them.
   */
  #commit({ offeringGroup, option, contents, podValue }: FilledOption): NodeBatch {
    const { left } = this.#knapsack;
    const nodes = Math.min(...contents.map(([item, pods]) => Math.floor((left[item] ?? 0) / pods)));
    const need = new Float64Array(option.room.length);
    for (const [item, pods] of contents) {
      left[item] = (left[item] ?? 0) - pods * nodes;
      this.#leftValue -= pods * nodes * (this.values[item] ?? 0);
      this.#items[item]?.vector.forEach((amount, r) => {
        need[r] = (need[r] ?? 0) + pods * amount;
      });
    }
    // A cheaper option of the group may have enough room, because the knapsack did not fill this one.
    const smallest = this.#offeringGroups[offeringGroup]?.options.find(({ room }) => hasRoom(room, 0, need)) ?? option;
    const price = smallest.price + smallest.nodeCost;
    return { offeringGroup, contents, nodes, type: smallest.type, price, loss: price - podValue };
  }

  /** Fills a node option; undefined when no pod of the kind fits. */
  #trial(
    { offeringGroup, option }: Pick<RankedOption, "offeringGroup" | "option">,
    kind: number,
    { hostRulesFirst, spreadBonus }: PackingVariant,
  ): FilledOption | undefined {
    const contents = this.#knapsack.fill(offeringGroup, option.room, kind, hostRulesFirst);
    if (contents.length === 0) return undefined;
    const expectedNodes = this.#leftValue / this.#usualPrice;
    let podValue = 0;
    let spreadBonuses = 0;
    let competitiveValue = 0;
    for (const [s, pods] of contents) {
      const value = pods * (this.values[s] ?? 0);
      podValue += value;
      if (this.#knapsack.isCompetitive(offeringGroup, s)) competitiveValue += value;
      if (spreadBonus > 0 && (this.#knapsack.left[s] ?? 0) > expectedNodes)
        spreadBonuses += spreadBonus * pods * (this.#spreadBonuses[s] ?? 0);
    }
    return {
      offeringGroup,
      option,
      contents,
      podValue,
      lossRatio: (option.price + option.nodeCost - podValue - spreadBonuses) / Math.max(competitiveValue + spreadBonuses, MIN_RATIO_VALUE),
    };
  }

  /** The kind whose pods have the largest value. */
  #largestKind(): number {
    const requested = new Float64Array(this.#kinds.length);
    this.#items.forEach(({ kind, pods }, s) => {
      requested[kind] = (requested[kind] ?? 0) + pods * (this.values[s] ?? 0);
    });
    return requested.indexOf(Math.max(...requested));
  }

  /**
   * Node options to try for a kind, by falling value per dollar: the best of each price range, and one with room for
   * each item.
   */
  #candidatesFor(kind: number, width: number): readonly RankedOption[] {
    const requested = new Float64Array(width);
    for (const { kind: own, vector, pods } of this.#items) {
      if (own === kind) for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
    }
    const prices = this.#shadowPrices.cheapest(kind, requested) ?? requested;
    const all = this.#shadowPrices.groupsServing(kind).flatMap((offeringGroup) => {
      const usable = this.#requested[offeringGroup] ?? requested;
      return (this.#offeringGroups[offeringGroup]?.options ?? []).map((option): RankedOption => {
        const maxValue = dot(this.#shadowPrices.byGroup[offeringGroup] ?? prices, option.room);
        const useful = option.room.map((amount, r) => Math.min(amount, usable[r] ?? 0));
        return { offeringGroup, option, maxValue, valuePerDollar: dot(prices, useful) / (option.price + option.nodeCost) };
      });
    });
    const highest = all.reduce((high, { valuePerDollar }) => Math.max(high, valuePerDollar), 0);
    const better = (a: RankedOption, b: RankedOption): number =>
      b.valuePerDollar - a.valuePerDollar || a.offeringGroup - b.offeringGroup || a.option.type - b.option.type;
    const bySize = new Map<number, RankedOption[]>();
    for (const candidate of all) {
      if (candidate.valuePerDollar < MIN_OPTION_VALUE_SHARE * highest) continue;
      const size = Math.floor(2 * Math.log2(candidate.option.price));
      const list = bySize.get(size) ?? [];
      bySize.set(size, list);
      list.push(candidate);
    }
    const chosen = new Set([...bySize.values()].flatMap((list) => list.sort(better).slice(0, MAX_OPTIONS_PER_SIZE)));
    all.sort(better);
    for (const { kind: own, vector } of this.#items) {
      if (own !== kind || [...chosen].some(({ option }) => hasRoom(option.room, 0, vector))) continue;
      const roomy = all.find(({ option }) => hasRoom(option.room, 0, vector));
      if (roomy !== undefined) chosen.add(roomy);
    }
    return [...chosen].sort(better);
  }

  /** Price of the cheapest node for one pod alone, USD per hour; 0 without such a node. */
  #priceAlone({ kind, vector }: Item): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const offeringGroup of this.#shadowPrices.groupsServing(kind)) {
      const option = this.#offeringGroups[offeringGroup]?.options.find(({ room }) => hasRoom(room, 0, vector));
      if (option !== undefined) lowest = Math.min(lowest, option.price + option.nodeCost);
    }
    return lowest === Number.POSITIVE_INFINITY ? 0 : lowest;
  }
}

/** Total requests of the pods that an offering group serves, by resource. */
function requestedOf({ kinds: served }: OfferingGroup, items: readonly Item[], width: number): Float64Array {
  const isServed = new Set(served);
  const requested = new Float64Array(width);
  for (const { kind, vector, pods } of items) {
    if (isServed.has(kind)) for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
  }
  return requested;
}
