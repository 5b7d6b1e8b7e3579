import { NODE_HOUR } from "../problem/strategy.ts";
import { addTo, hasRoom } from "../tables/resource-axis.ts";
import type { Kind, Stock, Supply } from "./items.ts";
import { Filler, type Shares } from "./node-filler.ts";
import type { Cell, Offer } from "./offering-groups.ts";
import { dot, type Worth } from "./shadow-prices.ts";

/** Machines that are filled alike. */
export interface Batch {
  readonly cell: number;
  readonly shares: Shares;
  readonly machines: number;
  /** USD per hour of one machine, with what a node costs beside its instance. */
  readonly price: number;
  /** USD per hour by which one machine costs more than its pods are worth. */
  readonly loss: number;
}

/** Ways to mix; none is best for all. */
export interface Mixing {
  /** Pods with rules about company on their host go first. */
  readonly pickyFirst: boolean;
  /**
   * How much of what such a pod would cost on a machine of its own is added to its worth, 0 to 1, as long as more of them are left than machines are to
   * come: then smaller machines, of which there are more, look better.
   */
  readonly premium: number;
}

/** A way of filling is kept as long as it wastes no more than this beyond what it did the first time. */
const AS_GOOD = 0.015;
/** Offers looked at by size of machine (half octaves of the price), for each kind. */
const OFFERS_BY_SIZE = 2;
/** Offers whose room gives less than this share of the best one's worth for its price are not looked at. */
const WORTHWHILE = 0.6;

interface Candidate {
  readonly cell: number;
  readonly offer: Offer;
  /** What the room is worth to the kind, for each dollar of the price. */
  readonly value: number;
  /** What the room is worth in its cell, USD per hour: no pods there are worth more. */
  readonly most: number;
}

interface Trial extends Pick<Candidate, "cell" | "offer"> {
  readonly shares: Shares;
  /** USD per hour that the pods are worth. */
  readonly worth: number;
  /** USD lost for each dollar's worth of pods that are at home here; less is better. */
  readonly waste: number;
}

/** Makes up machines for pods, one kind after another, each time the one that wastes least. */
export class Mixer {
  readonly #kinds: readonly Kind[];
  readonly #stocks: readonly Stock[];
  readonly #cells: readonly Cell[];
  readonly #worth: Worth;
  readonly #filler: Filler;
  /** By stock: what a pod is worth, and how much more it would cost on a machine of its own; USD per hour. */
  readonly #values: Float64Array;
  readonly #premiums: Float64Array;
  /** Kinds in the order in which machines are sought for them: those that the first pools cannot serve, then those with the least choice. */
  readonly #order: readonly number[];
  readonly #candidates: readonly (readonly Candidate[])[];
  /** Stocks with rules about company, and how many of each a host may have. */
  readonly #picky: readonly { readonly s: number; readonly each: number }[];
  /** By cell and custom labels: what the pods that it serves ask for together. */
  readonly #asked: readonly ReadonlyMap<string, Float64Array>[];
  /** USD per hour that the pods left are worth. */
  #leftWorth = 0;
  /** USD per hour of the machine that gives most for its price. */
  readonly #usualPrice: number;

  /** What a machine costs beside its instance, USD per hour. */
  readonly #nodeHour: number;

  constructor({ kinds, stocks }: Supply, cells: readonly Cell[], worth: Worth, width: number, nodeHour = NODE_HOUR) {
    this.#nodeHour = nodeHour;
    this.#kinds = kinds;
    this.#stocks = stocks;
    this.#cells = cells;
    this.#worth = worth;
    this.#values = Float64Array.from(stocks, (stock) => worth.of(stock));
    this.#premiums = Float64Array.from(stocks, (stock, s) =>
      stock.rules.length > 0 ? Math.max(0, this.#alone(stock) - (this.#values[s] ?? 0)) : 0,
    );
    this.#picky = stocks.flatMap(({ rules }, s) =>
      rules.length === 0 ? [] : [{ s, each: 1 + Math.min(...rules.map(({ most }) => most)) }],
    );
    const choice = kinds.map((_, kind) => this.#homeCells(kind).length);
    this.#filler = new Filler(kinds, stocks, cells, worth, choice, width);
    this.#order = kinds
      .map(({ home }, kind) => ({ kind, home: home.index }))
      .sort((a, b) => b.home - a.home || (choice[a.kind] ?? 0) - (choice[b.kind] ?? 0) || a.kind - b.kind)
      .map(({ kind }) => kind);
    this.#asked = cells.map((cell) => askedByCustom(cell, kinds, stocks, width));
    this.#candidates = kinds.map((_, kind) => this.#offersFor(kind, width));
    this.#usualPrice = this.#candidates[this.#largestKind()]?.[0]?.offer.price ?? 1;
  }

  /** Machines for so many pods of each stock. Pods for which there is none are left out. */
  mix(pods: Int32Array, mixing: Mixing): Batch[] {
    const filler = this.#filler;
    filler.start(pods);
    this.#leftWorth = pods.reduce((sum, n, s) => sum + n * (this.#values[s] ?? 0), 0);
    const batches: Batch[] = [];
    for (const kind of this.#order) {
      let held: Trial | undefined;
      for (let stock = filler.remaining(kind); stock >= 0; stock = filler.remaining(kind)) {
        let best = held && this.#trial(held, kind, mixing);
        if (held === undefined || best === undefined || best.waste > held.waste + AS_GOOD) {
          best = this.#best(kind, mixing);
          held = best;
        }
        if (best === undefined) filler.left[stock] = 0;
        else batches.push(this.#take(best));
      }
    }
    return batches;
  }

  #best(kind: number, mixing: Mixing): Trial | undefined {
    let best: Trial | undefined;
    const premiums = mixing.premium * this.#premiumsLeft();
    for (const candidate of this.#candidates[kind] ?? []) {
      // However well it is filled, it wastes what its room, or the pods that are left, are not worth.
      const worth = Math.min(candidate.most, this.#leftWorth) + premiums;
      const loss = candidate.offer.price + this.#nodeHour - worth;
      if (best !== undefined && loss >= 0 && loss >= best.waste * worth) continue;
      const trial = this.#trial(candidate, kind, mixing);
      if (trial !== undefined && (best === undefined || trial.waste < best.waste - 1e-12)) best = trial;
    }
    return best;
  }

  /** The most that premiums can come to on one machine: pods with rules come singly, or as many as their rule lets. */
  #premiumsLeft(): number {
    let sum = 0;
    for (const { s, each } of this.#picky) sum += (this.#premiums[s] ?? 0) * Math.min(this.#filler.left[s] ?? 0, each);
    return sum;
  }

  #take({ cell, offer, shares, worth }: Trial): Batch {
    const { left } = this.#filler;
    const machines = Math.min(...shares.map(([stock, pods]) => Math.floor((left[stock] ?? 0) / pods)));
    const need = new Float64Array(offer.room.length);
    for (const [stock, pods] of shares) {
      left[stock] = (left[stock] ?? 0) - pods * machines;
      this.#leftWorth -= pods * machines * (this.#values[stock] ?? 0);
      this.#stocks[stock]?.vector.forEach((amount, r) => {
        need[r] = (need[r] ?? 0) + pods * amount;
      });
    }
    // A smaller machine of the cell may do for what was found.
    const smallest = this.#cells[cell]?.offers.find(({ room }) => hasRoom(room, 0, need)) ?? offer;
    const price = smallest.price + this.#nodeHour;
    return { cell, shares, machines, price, loss: price - worth };
  }

  /** Fills a machine; undefined when no pod of the kind comes to lie on it. */
  #trial({ cell, offer }: Pick<Candidate, "cell" | "offer">, kind: number, { pickyFirst, premium }: Mixing): Trial | undefined {
    const shares = this.#filler.fill(cell, offer.room, kind, pickyFirst);
    if (shares.length === 0) return undefined;
    const machines = this.#leftWorth / this.#usualPrice;
    let worth = 0;
    let premiums = 0;
    let home = 0;
    for (const [s, pods] of shares) {
      const value = pods * (this.#values[s] ?? 0);
      worth += value;
      if (this.#filler.isHome(cell, s)) home += value;
      if (premium > 0 && (this.#filler.left[s] ?? 0) > machines) premiums += premium * pods * (this.#premiums[s] ?? 0);
    }
    return { cell, offer, shares, worth, waste: (offer.price + this.#nodeHour - worth - premiums) / Math.max(home + premiums, 1e-9) };
  }

  #largestKind(): number {
    const asked = new Float64Array(this.#kinds.length);
    this.#stocks.forEach(({ kind, pods }, s) => {
      asked[kind] = (asked[kind] ?? 0) + pods * (this.#values[s] ?? 0);
    });
    return asked.indexOf(Math.max(...asked));
  }

  /** Cells whose machines may be made for a kind. */
  #homeCells(kind: number): readonly number[] {
    return this.#worth.cellsOf(kind).filter((cell) => this.#cells[cell]?.template === this.#kinds[kind]?.home);
  }

  /** Offers to try for a kind, the best for their price first: some of each size of machine, and one with room for each pod. */
  #offersFor(kind: number, width: number): readonly Candidate[] {
    const asked = new Float64Array(width);
    for (const { kind: own, vector, pods } of this.#stocks) {
      if (own === kind) for (let r = 0; r < width; r++) asked[r] = (asked[r] ?? 0) + pods * (vector[r] ?? 0);
    }
    const room = this.#worth.cheapest(kind, asked) ?? asked;
    const all = this.#homeCells(kind).flatMap((cell) => {
      const company = this.#company(cell, kind, width);
      return (this.#cells[cell]?.offers ?? []).map((offer): Candidate => {
        const most = dot(this.#worth.room[cell] ?? room, offer.room);
        const useful = offer.room.map((amount, r) => Math.min(amount, company[r] ?? 0));
        return { cell, offer, most, value: dot(room, useful) / (offer.price + this.#nodeHour) };
      });
    });
    const best = all.reduce((high, { value }) => Math.max(high, value), 0);
    const better = (a: Candidate, b: Candidate): number => b.value - a.value || a.cell - b.cell || a.offer.type - b.offer.type;
    const bySize = new Map<number, Candidate[]>();
    for (const candidate of all) {
      if (candidate.value < WORTHWHILE * best) continue;
      const size = Math.floor(2 * Math.log2(candidate.offer.price));
      const list = bySize.get(size) ?? [];
      bySize.set(size, list);
      list.push(candidate);
    }
    const chosen = new Set([...bySize.values()].flatMap((list) => list.sort(better).slice(0, OFFERS_BY_SIZE)));
    all.sort(better);
    for (const { kind: own, vector } of this.#stocks) {
      if (own !== kind || [...chosen].some(({ offer }) => hasRoom(offer.room, 0, vector))) continue;
      const roomy = all.find(({ offer }) => hasRoom(offer.room, 0, vector));
      if (roomy !== undefined) chosen.add(roomy);
    }
    return [...chosen].sort(better);
  }

  /** How much the pods of a cell that may lie beside a kind ask for together: more room than that is of no use. */
  #company(cell: number, kind: number, width: number): Float64Array {
    const custom = this.#kinds[kind]?.custom ?? "";
    const sum = new Float64Array(width);
    for (const [other, asked] of this.#asked[cell] ?? []) {
      if (custom === "" || other === "" || other === custom) addTo(sum, asked);
    }
    return sum;
  }

  /** What a pod would cost on a machine of its own, USD per hour; 0 when there is none. */
  #alone({ kind, vector }: Stock): number {
    let least = Number.POSITIVE_INFINITY;
    for (const cell of this.#worth.cellsOf(kind)) {
      const offer = this.#cells[cell]?.offers.find(({ room }) => hasRoom(room, 0, vector));
      if (offer !== undefined) least = Math.min(least, offer.price + this.#nodeHour);
    }
    return least === Number.POSITIVE_INFINITY ? 0 : least;
  }
}

/** What the pods that a cell serves ask for together, by the custom labels that they want. */
function askedByCustom(
  { kinds: served }: Cell,
  kinds: readonly Kind[],
  stocks: readonly Stock[],
  width: number,
): ReadonlyMap<string, Float64Array> {
  const isServed = new Set(served);
  const byCustom = new Map<string, Float64Array>();
  for (const { kind, vector, pods } of stocks) {
    if (!isServed.has(kind)) continue;
    const custom = kinds[kind]?.custom ?? "";
    const asked = byCustom.get(custom) ?? new Float64Array(width);
    byCustom.set(custom, asked);
    for (let r = 0; r < width; r++) asked[r] = (asked[r] ?? 0) + pods * (vector[r] ?? 0);
  }
  return byCustom;
}
