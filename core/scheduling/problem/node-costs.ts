import { oncePer } from "../../lib/once-per.ts";
import type { CostSettings } from "../../model/prices.ts";
import { burstOf } from "../../offerings/burstable.ts";
import { nodeCost, surplusPrice } from "../../offerings/node-cost.ts";
import { type Bitset, hasBit } from "../tables/bitset.ts";
import type { Prices } from "../tables/offering-table.ts";
import type { TypeTable } from "../tables/type-table.ts";

/**
 * A step of a type's price. All types have one step but the burstable ones, whose surplus credits cost more the more
 * cpu the pods of a node request.
 */
interface PriceStep {
  /** Milli-cpu that pods may request of the node at this price; Infinity for the last step. */
  readonly maxCpu: number;
  /** USD per hour of surplus credits. */
  readonly surplus: number;
}

/** A type at one step of its price. */
export interface RankedType {
  /** Index in the type table. */
  readonly type: number;
  /** USD per hour of the instance, surplus credits included. */
  readonly price: number;
  readonly maxCpu: number;
}

/**
 * Steps of equal cpu between a burstable type's baseline and all of its cpu. The search counts surplus credits up to
 * the end of a step: at most those for an eighth of that cpu too much. `npm run -s conformance` chose 8: with 4 one of
 * 120 plans cost more than Karpenter's, 16 changed none.
 */
const BURST_STEPS = 8;
const byPrice = (a: RankedType, b: RankedType): number => a.price - b.price || a.type - b.type;

/** Two lists by rising price as one. */
function merged(a: readonly RankedType[], b: readonly RankedType[]): readonly RankedType[] {
  const all: RankedType[] = [];
  let next = 0;
  for (const item of a) {
    for (let other = b[next]; other !== undefined && byPrice(other, item) < 0; other = b[++next]) all.push(other);
    all.push(item);
  }
  return all.concat(b.slice(next));
}

const FLAT: readonly PriceStep[] = [{ maxCpu: Number.POSITIVE_INFINITY, surplus: 0 }];

/**
 * What the nodes of a NodePool cost their owner, so that the search does not compare the prices of instances alone.
 *
 *     costs.rankedBy(table.prices(set))[0]; // { type: 17, price: 0.0425, maxCpu: Infinity }
 */
export class NodeCosts {
  readonly #table: TypeTable;
  readonly #own: Bitset;
  readonly #settings: CostSettings;
  /** By type, in milli-units: what the pool's DaemonSets request. */
  readonly #daemonCpu: (type: number) => number;
  readonly #steps: readonly (readonly PriceStep[])[];
  readonly #byPrices: (prices: Prices) => readonly RankedType[] = oncePer(({ order, byType }) =>
    this.ranked(
      order.filter((type) => hasBit(this.#own, type)),
      (type) => byType[type] ?? 0,
    ),
  );
  /**
   * What each node costs beside its instance, USD per hour: overhead, and the volumes of the pool's NodeClass.
   */
  readonly perNode: number;

  /** `own`: the types that the pool allows; `rankedBy` leaves the others out. */
  constructor(table: TypeTable, own: Bitset, daemonCpu: (type: number) => number, settings: CostSettings) {
    this.#table = table;
    this.#own = own;
    this.#settings = settings;
    this.#daemonCpu = daemonCpu;
    this.#steps = table.types.map((_, t) => (hasBit(own, t) ? this.#stepsOf(t) : FLAT));
    this.perNode = nodeCost(table.types[0], settings);
  }

  /**
   * Types that are named by rising price of their instances and then by index, with their prices; a burstable type has
   * several entries.
   */
  ranked(types: Iterable<number>, priceOf: (type: number) => number): readonly RankedType[] {
    // Only the steps of the burstable types, which are few, are in another order.
    const flat: RankedType[] = [];
    const stepped: RankedType[] = [];
    for (const type of types) {
      const price = priceOf(type);
      const steps = this.#steps[type] ?? FLAT;
      if (steps === FLAT) flat.push({ type, price, maxCpu: Number.POSITIVE_INFINITY });
      else for (const { maxCpu, surplus } of steps) stepped.push({ type, price: price + surplus, maxCpu });
    }
    return stepped.length === 0 ? flat : merged(flat, stepped.sort(byPrice));
  }

  /** All types of the pool with an offering, by rising price. */
  rankedBy(prices: Prices): readonly RankedType[] {
    return this.#byPrices(prices);
  }

  /** Surplus credits of a type of the pool with these requests of pods (milli-cpu), USD per hour, exactly. */
  surplus(type: number, cpu: number): number {
    if (this.#steps[type] === FLAT) return 0;
    return surplusPrice(this.#table.types[type], cpu + this.#daemonCpu(type), this.#settings);
  }

  #stepsOf(t: number): readonly PriceStep[] {
    const type = this.#table.types[t];
    const burst = type && burstOf(type);
    if (burst === undefined) return FLAT;
    const last = this.#table.amounts.allocatable("cpu")[t] ?? 0;
    if (surplusPrice(type, last, this.#settings) === 0) return FLAT;
    return Array.from({ length: BURST_STEPS + 1 }, (_, step) => {
      const cpu = burst.baseline + ((last - burst.baseline) * step) / BURST_STEPS;
      const maxCpu = step === BURST_STEPS ? Number.POSITIVE_INFINITY : cpu - this.#daemonCpu(t);
      return { maxCpu, surplus: surplusPrice(type, cpu, this.#settings) };
    });
  }
}
