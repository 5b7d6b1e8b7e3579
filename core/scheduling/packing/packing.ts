import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import { type Demand, demandOf } from "./demand.ts";
import { type OfferingGroup, offeringGroupsFor } from "./offering-groups.ts";
import { type NodeBatch, Packer, type PackingVariant } from "./packer.ts";
import { ShadowPrices } from "./shadow-prices.ts";

/** A node to be made. */
export interface ProposedNode {
  readonly template: Template;
  /** What all pods that are meant for it want of it. */
  readonly set: RequirementSet;
}

/** Which pods are to share machines. A proposal: whether each may lie there is decided when it is placed. */
export interface NodeProposals {
  /** Undefined where the pods' wishes turn out to exclude each other. */
  readonly nodes: readonly (ProposedNode | undefined)[];
  /** By class, the machine of each of its pods in turn, -1 where none is proposed; undefined for classes that are left out. */
  readonly targets: readonly (Int32Array | undefined)[];
}

export const VARIANTS: readonly PackingVariant[] = [
  { hostRulesFirst: false, spreadBonus: 0 },
  { hostRulesFirst: true, spreadBonus: 0.1 },
  { hostRulesFirst: false, spreadBonus: 0.1 },
  { hostRulesFirst: true, spreadBonus: 0.4 },
];
const SMALL_NODES_VARIANT: PackingVariant = { hostRulesFirst: true, spreadBonus: 1 };
/** Rounds of the search for the worth of room: it matters more where there is more to mix. */
const DUAL_ROUNDS = 4;
const DUAL_ROUNDS_FEW_ITEMS = 2;
const MANY_ITEMS = 150;
/** Machines taken apart at once: those that waste most, and half as many others. */
const MIN_RUINED = 3;
const MAX_RUINED = 10;
const MIN_GAIN = 1e-6;
/** Times that machines are taken apart, for each machine and at most. */
const STEPS_PER_NODE = 3;
const MAX_STEPS = 700;
/** Machines looked at in all steps together: each step looks at all. */
const MAX_NODES_SCANNED = 240_000;

/**
 * Proposes machines for the pods that are left of each class, so that together they cost as little as can be found: mixes in several ways, keeps the
 * cheapest, and then takes some machines apart and mixes their pods anew, a bounded number of times. Undefined when there is nothing to propose.
 */
export function proposeNodes(problem: SchedulingProblem, left: readonly number[], topology: TopologyState): NodeProposals | undefined {
  const demand = demandOf(problem, left, topology);
  if (demand.items.length === 0) return undefined;
  const width = problem.axis.names.length;
  const offeringGroups = offeringGroupsFor(demand.kinds, width);
  const shadowPrices = new ShadowPrices(offeringGroups, demand.items, demand.kinds.length, width, dualRounds(demand));
  const packer = new Packer(demand, offeringGroups, shadowPrices, width, problem.nodeHour);
  const all = Int32Array.from(demand.items, ({ pods }) => pods);
  let best: readonly NodeBatch[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const variant of VARIANTS) {
    const batches = packer.pack(all, variant);
    const price = priceOf(batches);
    if (price < least) [best, least] = [batches, price];
  }
  const nodes = ruinAndRecreate(best.flatMap(single), packer, demand.items.length);
  return {
    nodes: nodes.map(({ offeringGroup, contents }) => nodeFor(offeringGroups[offeringGroup], contents, demand, problem.sets)),
    targets: targetsOf(demand, nodes),
  };
}

/** Rounds of the dual search: more where there is more to mix. */
export function dualRounds({ items }: Demand): number {
  return items.length > MANY_ITEMS ? DUAL_ROUNDS : DUAL_ROUNDS_FEW_ITEMS;
}

function nodeFor(
  offeringGroup: OfferingGroup | undefined,
  contents: NodeBatch["contents"],
  { kinds, items }: Demand,
  sets: RequirementSets,
): ProposedNode | undefined {
  if (offeringGroup === undefined) return undefined;
  const { template } = offeringGroup;
  let set: RequirementSet | undefined = template.set;
  for (const kind of new Set(contents.map(([item]) => items[item]?.kind ?? -1))) {
    const own = kinds[kind]?.sets[template.index];
    set = set && own && sets.join(set, own);
  }
  return set && { template, set };
}

export function priceOf(batches: readonly NodeBatch[]): number {
  return batches.reduce((sum, { price, nodes }) => sum + price * nodes, 0);
}

export function single(batch: NodeBatch): readonly NodeBatch[] {
  return Array.from({ length: batch.nodes }, () => ({ ...batch, nodes: 1 }));
}

/** Takes the most wasteful machines apart, with a few others to give room for change, and keeps what their pods are mixed to if it is cheaper. */
export function ruinAndRecreate(start: readonly NodeBatch[], packer: Packer, items: number): readonly NodeBatch[] {
  let nodes = [...start];
  const steps = Math.min(MAX_STEPS, STEPS_PER_NODE * nodes.length, MAX_NODES_SCANNED / nodes.length);
  const next = numbers(nodes.length);
  for (let step = 0; step < steps && nodes.length > 1; step++) {
    // Now those that waste most, now those that waste most for their price: many small ones may become few.
    const isByPrice = step % 2 === 1;
    nodes.sort(isByPrice ? (a, b) => b.loss / b.price - a.loss / a.price : (a, b) => b.loss - a.loss);
    const size = (isByPrice ? 2 : 1) * (MIN_RUINED + (next() % (MAX_RUINED - MIN_RUINED)));
    const offset = step % 3 === 0 ? 0 : next() % Math.max(1, nodes.length >> 1);
    const chosen = new Set<number>();
    for (let i = 0; i < size; i++) chosen.add(Math.min(nodes.length - 1, offset + i));
    const others = isByPrice ? 1 + (next() % 2) : size >> 1;
    for (let i = 0; i < others; i++) {
      const [a, b] = [next() % nodes.length, next() % nodes.length];
      chosen.add((nodes[a]?.price ?? 0) > (nodes[b]?.price ?? 0) ? a : b);
    }
    const ruined = nodes.filter((_, i) => chosen.has(i));
    const pods = new Int32Array(items);
    for (const { contents } of ruined) for (const [item, n] of contents) pods[item] = (pods[item] ?? 0) + n;
    const batches = packer.pack(pods, isByPrice ? SMALL_NODES_VARIANT : (VARIANTS[next() % VARIANTS.length] ?? SMALL_NODES_VARIANT));
    if (priceOf(batches) > priceOf(ruined) - MIN_GAIN) continue;
    nodes = [...nodes.filter((_, i) => !chosen.has(i)), ...batches.flatMap(single)];
  }
  return nodes;
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
function targetsOf({ items, itemOfPod }: Demand, batches: readonly NodeBatch[]): NodeProposals["targets"] {
  const queues = items.map((): { readonly machine: number; pods: number }[] => []);
  batches.forEach(({ contents }, machine) => {
    for (const [item, pods] of contents) queues[item]?.push({ machine, pods });
  });
  const heads = new Int32Array(items.length);
  return itemOfPod.map((itemIndexes) =>
    itemIndexes?.map((item) => {
      const share = queues[item]?.[heads[item] ?? 0];
      if (share === undefined) return -1;
      if (--share.pods === 0) heads[item] = (heads[item] ?? 0) + 1;
      return share.machine;
    }),
  );
}
