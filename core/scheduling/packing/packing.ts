import type { World } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import { type Supply, supplyOf } from "./items.ts";
import { type Cell, cellsOf } from "./offering-groups.ts";
import { type Batch, Mixer, type Mixing } from "./packer.ts";
import { Worth } from "./shadow-prices.ts";

/** A node to be made. */
export interface Machine {
  readonly template: Template;
  /** What all pods that are meant for it want of it. */
  readonly set: RequirementSet;
}

/** Which pods are to share machines. A proposal: whether each may lie there is decided when it is placed. */
export interface Recipes {
  /** Undefined where the pods' wishes turn out to exclude each other. */
  readonly machines: readonly (Machine | undefined)[];
  /** By class, the machine of each of its pods in turn, -1 where none is proposed; undefined for classes that are left out. */
  readonly targets: readonly (Int32Array | undefined)[];
}

const MIXINGS: readonly Mixing[] = [
  { pickyFirst: false, premium: 0 },
  { pickyFirst: true, premium: 0.1 },
  { pickyFirst: false, premium: 0.1 },
  { pickyFirst: true, premium: 0.4 },
];
const SMALLER: Mixing = { pickyFirst: true, premium: 1 };
/** Rounds of the search for the worth of room: it matters more where there is more to mix. */
const ROUNDS = 4;
const FEW_ROUNDS = 2;
const MANY_STOCKS = 150;
/** Machines taken apart at once: those that waste most, and half as many others. */
const FEWEST = 3;
const MOST = 10;
const LEAST_GAIN = 1e-6;
/** Times that machines are taken apart, for each machine and at most. */
const STEPS_EACH = 3;
const MOST_STEPS = 700;
/** Machines looked at in all steps together: each step looks at all. */
const MOST_LOOKS = 240_000;

/**
 * Proposes machines for the pods that are left of each class, so that together they cost as little as can be found: mixes in several ways, keeps the
 * cheapest, and then takes some machines apart and mixes their pods anew, a bounded number of times. Undefined when there is nothing to propose.
 */
export function recipesFor(world: World, left: readonly number[], topology: TopologyState): Recipes | undefined {
  const supply = supplyOf(world, left, topology);
  if (supply.stocks.length === 0) return undefined;
  const width = world.axis.names.length;
  const cells = cellsOf(supply.kinds, width);
  const worth = new Worth(cells, supply.stocks, supply.kinds.length, width, supply.stocks.length > MANY_STOCKS ? ROUNDS : FEW_ROUNDS);
  const mixer = new Mixer(supply, cells, worth, width, world.nodeHour);
  const all = Int32Array.from(supply.stocks, ({ pods }) => pods);
  let best: readonly Batch[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const mixing of MIXINGS) {
    const batches = mixer.mix(all, mixing);
    const price = priceOf(batches);
    if (price < least) [best, least] = [batches, price];
  }
  const machines = improved(best.flatMap(single), mixer, supply.stocks.length);
  return {
    machines: machines.map(({ cell, shares }) => machineFor(cells[cell], shares, supply, world.sets)),
    targets: targetsOf(supply, machines),
  };
}

function machineFor(
  cell: Cell | undefined,
  shares: Batch["shares"],
  { kinds, stocks }: Supply,
  sets: RequirementSets,
): Machine | undefined {
  if (cell === undefined) return undefined;
  const { template } = cell;
  let set: RequirementSet | undefined = template.set;
  for (const kind of new Set(shares.map(([stock]) => stocks[stock]?.kind ?? -1))) {
    const own = kinds[kind]?.sets[template.index];
    set = set && own && sets.join(set, own);
  }
  return set && { template, set };
}

function priceOf(batches: readonly Batch[]): number {
  return batches.reduce((sum, { price, machines }) => sum + price * machines, 0);
}

function single(batch: Batch): readonly Batch[] {
  return Array.from({ length: batch.machines }, () => ({ ...batch, machines: 1 }));
}

/** Takes the most wasteful machines apart, with a few others to give room for change, and keeps what their pods are mixed to if it is cheaper. */
function improved(start: readonly Batch[], mixer: Mixer, stocks: number): readonly Batch[] {
  let machines = [...start];
  const steps = Math.min(MOST_STEPS, STEPS_EACH * machines.length, MOST_LOOKS / machines.length);
  const next = numbers(machines.length);
  for (let step = 0; step < steps && machines.length > 1; step++) {
    // Now those that waste most, now those that waste most for their price: many small ones may become few.
    const isByPrice = step % 2 === 1;
    machines.sort(isByPrice ? (a, b) => b.loss / b.price - a.loss / a.price : (a, b) => b.loss - a.loss);
    const size = (isByPrice ? 2 : 1) * (FEWEST + (next() % (MOST - FEWEST)));
    const offset = step % 3 === 0 ? 0 : next() % Math.max(1, machines.length >> 1);
    const chosen = new Set<number>();
    for (let i = 0; i < size; i++) chosen.add(Math.min(machines.length - 1, offset + i));
    const others = isByPrice ? 1 + (next() % 2) : size >> 1;
    for (let i = 0; i < others; i++) {
      const [a, b] = [next() % machines.length, next() % machines.length];
      chosen.add((machines[a]?.price ?? 0) > (machines[b]?.price ?? 0) ? a : b);
    }
    const apart = machines.filter((_, i) => chosen.has(i));
    const pods = new Int32Array(stocks);
    for (const { shares } of apart) for (const [stock, n] of shares) pods[stock] = (pods[stock] ?? 0) + n;
    const batches = mixer.mix(pods, isByPrice ? SMALLER : (MIXINGS[next() % MIXINGS.length] ?? SMALLER));
    if (priceOf(batches) > priceOf(apart) - LEAST_GAIN) continue;
    machines = [...machines.filter((_, i) => !chosen.has(i)), ...batches.flatMap(single)];
  }
  return machines;
}

/** Whole numbers that look like chance and are the same in every run (xorshift). */
function numbers(seed: number): () => number {
  let state = (seed + 1) * 2654435761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Gives each pod its machine: those of a stock in the order of their classes. */
function targetsOf({ stocks, draws }: Supply, batches: readonly Batch[]): Recipes["targets"] {
  const queues = stocks.map((): { readonly machine: number; pods: number }[] => []);
  batches.forEach(({ shares }, machine) => {
    for (const [stock, pods] of shares) queues[stock]?.push({ machine, pods });
  });
  const heads = new Int32Array(stocks.length);
  return draws.map((draw) =>
    draw?.map((stock) => {
      const share = queues[stock]?.[heads[stock] ?? 0];
      if (share === undefined) return -1;
      if (--share.pods === 0) heads[stock] = (heads[stock] ?? 0) + 1;
      return share.machine;
    }),
  );
}
