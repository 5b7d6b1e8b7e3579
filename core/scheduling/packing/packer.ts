import { NODE_VOLUME_PRICE } from "../../model/prices.ts";
import { addTo, hasRoom } from "../tables/resource-axis.ts";
import type { Demand, Item, PlacementKind } from "./demand.ts";
import { type Contents, GreedyKnapsack } from "./greedy-knapsack.ts";
import type { NodeOption, OfferingGroup } from "./offering-groups.ts";
import { dot, type ShadowPrices } from "./shadow-prices.ts";

/** Machines that are filled alike. */
export interface NodeBatch {
  readonly offeringGroup: number;
  readonly contents: Contents;
  readonly nodes: number;
  /** USD per hour of one machine, with what a node costs beside its instance. */
  readonly price: number;
  /** USD per hour by which one machine costs more than its pods are worth. */
  readonly loss: number;
}

/** Ways to mix; none is best for all. */
export interface PackingVariant {
  /** Pods with rules about company on their host go first. */
  readonly hostRulesFirst: boolean;
  /**
   * How much of what such a pod would cost on a machine of its own is added to its worth, 0 to 1, as long as more of them are left than machines are to
   * come: then smaller machines, of which there are more, look better.
   */
  readonly spreadBonus: number;
}

/** A way of filling is kept as long as it wastes no more than this beyond what it did the first time. */
const REFILL_LOSS_TOLERANCE = 0.015;
/** Offers looked at by size of machine (half octaves of the price), for each kind. */
const OPTIONS_PER_SIZE = 2;
/** Offers whose room gives less than this share of the best one's worth for its price are not looked at. */
const MIN_OPTION_VALUE_SHARE = 0.6;

interface Candidate {
  readonly offeringGroup: number;
  readonly option: NodeOption;
  /** What the room is worth to the kind, for each dollar of the price. */
  readonly valuePerDollar: number;
  /** What the room is worth in its cell, USD per hour: no pods there are worth more. */
  readonly maxValue: number;
}

interface Trial extends Pick<Candidate, "offeringGroup" | "option"> {
  readonly contents: Contents;
  /** USD per hour that the pods are worth. */
  readonly podValue: number;
  /** USD lost for each dollar's worth of pods that are at home here; less is better. */
  readonly lossRatio: number;
}

/** Makes up machines for pods, one kind after another, each time the one that wastes least. */
export class Packer {
  readonly #kinds: readonly PlacementKind[];
  readonly #items: readonly Item[];
  readonly #offeringGroups: readonly OfferingGroup[];
  readonly #shadowPrices: ShadowPrices;
  readonly #knapsack: GreedyKnapsack;
  /** By stock: what a pod is worth, and how much more it would cost on a machine of its own; USD per hour. */
  readonly #values: Float64Array;
  readonly #spreadBonuses: Float64Array;
  /** Kinds in the order in which machines are sought for them: those that the first pools cannot serve, then those with the least choice. */
  readonly #order: readonly number[];
  readonly #candidates: readonly (readonly Candidate[])[];
  /** Stocks with rules about company, and how many of each a host may have. */
  readonly #hostRuled: readonly { readonly s: number; readonly each: number }[];
  /** By cell and custom labels: what the pods that it serves ask for together. */
  readonly #requested: readonly ReadonlyMap<string, Float64Array>[];
  /** USD per hour that the pods left are worth. */
  #leftValue = 0;
  /** USD per hour of the machine that gives most for its price. */
  readonly #usualPrice: number;

  /** What a machine costs beside its instance, USD per hour. */
  readonly #nodeHour: number;

  constructor(
    { kinds, items }: Demand,
    offeringGroups: readonly OfferingGroup[],
    shadowPrices: ShadowPrices,
    width: number,
    nodeHour = NODE_VOLUME_PRICE,
  ) {
    this.#nodeHour = nodeHour;
    this.#kinds = kinds;
    this.#items = items;
    this.#offeringGroups = offeringGroups;
    this.#shadowPrices = shadowPrices;
    this.#values = Float64Array.from(items, (item) => shadowPrices.valueOfPod(item));
    this.#spreadBonuses = Float64Array.from(items, (item, s) =>
      item.rules.length > 0 ? Math.max(0, this.#alone(item) - (this.#values[s] ?? 0)) : 0,
    );
    this.#hostRuled = items.flatMap(({ rules }, s) =>
      rules.length === 0 ? [] : [{ s, each: 1 + Math.min(...rules.map(({ most }) => most)) }],
    );
    const choice = kinds.map((_, kind) => this.#homeGroups(kind).length);
    this.#knapsack = new GreedyKnapsack(kinds, items, offeringGroups, shadowPrices, choice, width);
    this.#order = kinds
      .map(({ home }, kind) => ({ kind, home: home.index }))
      .sort((a, b) => b.home - a.home || (choice[a.kind] ?? 0) - (choice[b.kind] ?? 0) || a.kind - b.kind)
      .map(({ kind }) => kind);
    this.#requested = offeringGroups.map((offeringGroup) => requestedByCustom(offeringGroup, kinds, items, width));
    this.#candidates = kinds.map((_, kind) => this.#optionsFor(kind, width));
    this.#usualPrice = this.#candidates[this.#largestKind()]?.[0]?.option.price ?? 1;
  }

  /** Machines for so many pods of each stock. Pods for which there is none are left out. */
  pack(pods: Int32Array, variant: PackingVariant): NodeBatch[] {
    const knapsack = this.#knapsack;
    knapsack.start(pods);
    this.#leftValue = pods.reduce((sum, n, s) => sum + n * (this.#values[s] ?? 0), 0);
    const batches: NodeBatch[] = [];
    for (const kind of this.#order) {
      let held: Trial | undefined;
      for (let item = knapsack.remaining(kind); item >= 0; item = knapsack.remaining(kind)) {
        let best = held && this.#trial(held, kind, variant);
        if (held === undefined || best === undefined || best.lossRatio > held.lossRatio + REFILL_LOSS_TOLERANCE) {
          best = this.#best(kind, variant);
          held = best;
        }
        if (best === undefined) knapsack.left[item] = 0;
        else batches.push(this.#take(best));
      }
    }
    return batches;
  }

  #best(kind: number, variant: PackingVariant): Trial | undefined {
    let best: Trial | undefined;
    const spreadBonuses = variant.spreadBonus * this.#spreadBonusesLeft();
    for (const candidate of this.#candidates[kind] ?? []) {
      // However well it is filled, it wastes what its room, or the pods that are left, are not worth.
      const podValue = Math.min(candidate.maxValue, this.#leftValue) + spreadBonuses;
      const loss = candidate.option.price + this.#nodeHour - podValue;
      if (best !== undefined && loss >= 0 && loss >= best.lossRatio * podValue) continue;
      const trial = this.#trial(candidate, kind, variant);
      if (trial !== undefined && (best === undefined || trial.lossRatio < best.lossRatio - 1e-12)) best = trial;
    }
    return best;
  }

  /** The most that premiums can come to on one machine: pods with rules come singly, or as many as their rule lets. */
  #spreadBonusesLeft(): number {
    let sum = 0;
    for (const { s, each } of this.#hostRuled) sum += (this.#spreadBonuses[s] ?? 0) * Math.min(this.#knapsack.left[s] ?? 0, each);
    return sum;
  }

  #take({ offeringGroup, option, contents, podValue }: Trial): NodeBatch {
    const { left } = this.#knapsack;
    const nodes = Math.min(...contents.map(([item, pods]) => Math.floor((left[item] ?? 0) / pods)));
    const need = new Float64Array(option.room.length);
    for (const [item, pods] of contents) {
      left[item] = (left[item] ?? 0) - pods * nodes;
      this.#leftValue -= pods * nodes * (this.#values[item] ?? 0);
      this.#items[item]?.vector.forEach((amount, r) => {
        need[r] = (need[r] ?? 0) + pods * amount;
      });
    }
    // A smaller machine of the cell may do for what was found.
    const smallest = this.#offeringGroups[offeringGroup]?.options.find(({ room }) => hasRoom(room, 0, need)) ?? option;
    const price = smallest.price + this.#nodeHour;
    return { offeringGroup, contents, nodes, price, loss: price - podValue };
  }

  /** Fills a machine; undefined when no pod of the kind comes to lie on it. */
  #trial(
    { offeringGroup, option }: Pick<Candidate, "offeringGroup" | "option">,
    kind: number,
    { hostRulesFirst, spreadBonus }: PackingVariant,
  ): Trial | undefined {
    const contents = this.#knapsack.fill(offeringGroup, option.room, kind, hostRulesFirst);
    if (contents.length === 0) return undefined;
    const nodes = this.#leftValue / this.#usualPrice;
    let podValue = 0;
    let spreadBonuses = 0;
    let home = 0;
    for (const [s, pods] of contents) {
      const value = pods * (this.#values[s] ?? 0);
      podValue += value;
      if (this.#knapsack.isHome(offeringGroup, s)) home += value;
      if (spreadBonus > 0 && (this.#knapsack.left[s] ?? 0) > nodes) spreadBonuses += spreadBonus * pods * (this.#spreadBonuses[s] ?? 0);
    }
    return {
      offeringGroup,
      option,
      contents,
      podValue,
      lossRatio: (option.price + this.#nodeHour - podValue - spreadBonuses) / Math.max(home + spreadBonuses, 1e-9),
    };
  }

  #largestKind(): number {
    const requested = new Float64Array(this.#kinds.length);
    this.#items.forEach(({ kind, pods }, s) => {
      requested[kind] = (requested[kind] ?? 0) + pods * (this.#values[s] ?? 0);
    });
    return requested.indexOf(Math.max(...requested));
  }

  /** Cells whose machines may be made for a kind. */
  #homeGroups(kind: number): readonly number[] {
    return this.#shadowPrices
      .groupsServing(kind)
      .filter((offeringGroup) => this.#offeringGroups[offeringGroup]?.template === this.#kinds[kind]?.home);
  }

  /** Offers to try for a kind, the best for their price first: some of each size of machine, and one with room for each pod. */
  #optionsFor(kind: number, width: number): readonly Candidate[] {
    const requested = new Float64Array(width);
    for (const { kind: own, vector, pods } of this.#items) {
      if (own === kind) for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
    }
    const prices = this.#shadowPrices.cheapest(kind, requested) ?? requested;
    const all = this.#homeGroups(kind).flatMap((offeringGroup) => {
      const company = this.#company(offeringGroup, kind, width);
      return (this.#offeringGroups[offeringGroup]?.options ?? []).map((option): Candidate => {
        const maxValue = dot(this.#shadowPrices.byGroup[offeringGroup] ?? prices, option.room);
        const useful = option.room.map((amount, r) => Math.min(amount, company[r] ?? 0));
        return { offeringGroup, option, maxValue, valuePerDollar: dot(prices, useful) / (option.price + this.#nodeHour) };
      });
    });
    const best = all.reduce((high, { valuePerDollar }) => Math.max(high, valuePerDollar), 0);
    const better = (a: Candidate, b: Candidate): number =>
      b.valuePerDollar - a.valuePerDollar || a.offeringGroup - b.offeringGroup || a.option.type - b.option.type;
    const bySize = new Map<number, Candidate[]>();
    for (const candidate of all) {
      if (candidate.valuePerDollar < MIN_OPTION_VALUE_SHARE * best) continue;
      const size = Math.floor(2 * Math.log2(candidate.option.price));
      const list = bySize.get(size) ?? [];
      bySize.set(size, list);
      list.push(candidate);
    }
    const chosen = new Set([...bySize.values()].flatMap((list) => list.sort(better).slice(0, OPTIONS_PER_SIZE)));
    all.sort(better);
    for (const { kind: own, vector } of this.#items) {
      if (own !== kind || [...chosen].some(({ option }) => hasRoom(option.room, 0, vector))) continue;
      const roomy = all.find(({ option }) => hasRoom(option.room, 0, vector));
      if (roomy !== undefined) chosen.add(roomy);
    }
    return [...chosen].sort(better);
  }

  /** How much the pods of a cell that may lie beside a kind ask for together: more room than that is of no use. */
  #company(offeringGroup: number, kind: number, width: number): Float64Array {
    const custom = this.#kinds[kind]?.custom ?? "";
    const sum = new Float64Array(width);
    for (const [other, requested] of this.#requested[offeringGroup] ?? []) {
      if (custom === "" || other === "" || other === custom) addTo(sum, requested);
    }
    return sum;
  }

  /** What a pod would cost on a machine of its own, USD per hour; 0 when there is none. */
  #alone({ kind, vector }: Item): number {
    let least = Number.POSITIVE_INFINITY;
    for (const offeringGroup of this.#shadowPrices.groupsServing(kind)) {
      const option = this.#offeringGroups[offeringGroup]?.options.find(({ room }) => hasRoom(room, 0, vector));
      if (option !== undefined) least = Math.min(least, option.price + this.#nodeHour);
    }
    return least === Number.POSITIVE_INFINITY ? 0 : least;
  }
}

/** What the pods that a cell serves ask for together, by the custom labels that they want. */
function requestedByCustom(
  { kinds: served }: OfferingGroup,
  kinds: readonly PlacementKind[],
  items: readonly Item[],
  width: number,
): ReadonlyMap<string, Float64Array> {
  const isServed = new Set(served);
  const byCustom = new Map<string, Float64Array>();
  for (const { kind, vector, pods } of items) {
    if (!isServed.has(kind)) continue;
    const custom = kinds[kind]?.custom ?? "";
    const requested = byCustom.get(custom) ?? new Float64Array(width);
    byCustom.set(custom, requested);
    for (let r = 0; r < width; r++) requested[r] = (requested[r] ?? 0) + pods * (vector[r] ?? 0);
  }
  return byCustom;
}
