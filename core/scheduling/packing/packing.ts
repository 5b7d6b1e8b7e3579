// Room core/scheduling/packing: variable-sized vector bin packing. In: a SchedulingProblem and the pods without a node.
// Out: NodeProposals, that is, which pods should share which new node, and the shadow prices of pods. Ways: LP duality
// for prices, a knapsack heuristic for nodes, ruin and recreate for the whole. Must not know: planned claims, existing
// nodes, attempts. What it proposes is never binding: core/scheduling/attempt.ts places each pod by the rules or drops
// the proposal.

import { xorshift32 } from "../../lib/pseudo-random.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import { type Demand, demandOf, requiredZones } from "./demand.ts";
import { type Narrowed, type OfferingGroup, offeringGroupsFor } from "./offering-groups.ts";
import { OptimalPacker } from "./optimal-packer.ts";
import { MIN_GAIN, type NodeBatch, Packer, type PackingVariant, priceOf } from "./packer.ts";
import { podsOf, repackParts } from "./repack-parts.ts";
import { ShadowPrices } from "./shadow-prices.ts";

/** A new node that packing proposes. */
export interface ProposedNode {
  readonly template: Template;
  /** Index of the cheapest instance type that holds the node's pods. */
  readonly type: number;
  /** The pool's requirements joined with those of all pods that the proposal puts on the node. */
  readonly set: RequirementSet;
  /** Number of these pods. */
  readonly pods: number;
}

/**
 * Which pods should share which new nodes. With three pods of class 0 and nodes `[a, b]`, targets
 * `[Int32Array.of(0, 0, 1)]` put two pods on `a` and one on `b`. Whether each pod may be there is decided when it is
 * placed.
 */
export interface NodeProposals {
  /** Undefined for a node whose pods turn out to have requirements that exclude each other. */
  readonly nodes: readonly (ProposedNode | undefined)[];
  /**
   * By class, the index into `nodes` of each of its pods in turn, -1 without a proposal; undefined for classes that
   * packing leaves out.
   */
  readonly targets: readonly (Int32Array | undefined)[];
  /**
   * What all of the nodes cost, USD per hour. With `isOptimal`, no nodes for these pods cost less, as far as the demand
   * says: pods that packing leaves out and zones that were chosen beforehand are not part of that.
   */
  readonly cost: number;
  readonly isOptimal: boolean;
}

// Each of the numbers below came with the packer, which `npm run -s bench` judged as a whole against its lower bounds,
// unless its comment names a measurement of its own.

/** Variants of the first packing, all of them tried. */
export const VARIANTS: readonly PackingVariant[] = [
  { hostRulesFirst: false, spreadBonus: 0 },
  { hostRulesFirst: true, spreadBonus: 0.1 },
  { hostRulesFirst: false, spreadBonus: 0.1 },
  { hostRulesFirst: true, spreadBonus: 0.4 },
];
/** The variant for ruined nodes with the highest loss per dollar: it favours many small nodes. */
const SMALL_NODES_VARIANT: PackingVariant = { hostRulesFirst: true, spreadBonus: 1 };
/** Rounds of the search for shadow prices: exact prices matter more where there are more items to combine. */
const DUAL_ROUNDS = 4;
const DUAL_ROUNDS_FEW_ITEMS = 2;
/** Demands of more items get DUAL_ROUNDS. */
const MAX_FEW_ITEMS = 150;
/**
 * Bounds of the number of nodes with a high loss that one step ruins, before doubling; other nodes are ruined with
 * them.
 */
const MIN_RUINED = 3;
const MAX_RUINED = 10;
/**
 * Ruin-and-recreate steps, for each node and at most. More steps brought 5,000 pods of deployments from 5.1 % to 4.9 %
 * above the linear program (`npm run -s bench`, 300 against 600 steps); 700 and 3 per node were chosen with the value
 * of usable room.
 */
const MAX_STEPS_PER_NODE = 3;
const MAX_STEPS = 700;
/**
 * Demands with fewer combinations of their pods than this are packed optimally without shadow prices, which would take
 * longer than the packing.
 */
const MAX_TINY_STATES = 128;
/**
 * Of so many pods, those that may choose a zone are assigned to zones in two ways, and the cheaper packing is kept.
 * More pods have their own nodes in each zone.
 */
const MAX_PODS_FOR_SECOND_FORECAST = 50;
/**
 * Packings of fewer nodes are not ruined. Below 300 pods of deployments ruin and recreate changed no plan's cost, and
 * took half of the time.
 */
const MIN_NODES_FOR_RUIN = 20;
/** Nodes scanned in all steps together, because each step sorts all nodes; bounds the time of very large plans. */
const MAX_NODES_SCANNED = 240_000;

/**
 * Proposes new nodes for the pods of each class that have no node yet (`left`: their number by class index), at the
 * lowest price that the search finds: packs with several variants, keeps the cheapest result, improves it by ruin and
 * recreate, and packs small parts of it optimally. Limits are not looked at; pools of `without` launch no nodes, and
 * those of `narrowed` only some types. The amount of work is bounded by counts, never by time. Undefined when packing
 * leaves out every class.
 */
export function proposeNodes(
  problem: SchedulingProblem,
  left: readonly number[],
  topology: TopologyState,
  without?: ReadonlySet<Template>,
  narrowed?: Narrowed,
): NodeProposals | undefined {
  const demand = demandOf(problem, left, topology, without);
  if (demand.items.length === 0) return undefined;
  const cheapest = packed(problem, demand, narrowed);
  const pods = left.reduce((sum, n) => sum + n, 0);
  if (demand.forecastZones.length === 0 || pods > MAX_PODS_FOR_SECOND_FORECAST) return cheapest;
  const zones = [...new Set([...requiredZones(problem, left), ...demand.forecastZones])];
  const shared = packed(problem, demandOf(problem, left, topology, without, zones), narrowed);
  return shared.cost < cheapest.cost - MIN_GAIN ? shared : cheapest;
}

/** `proposeNodes` for one demand. */
function packed(problem: SchedulingProblem, demand: Demand, narrowed?: Narrowed): NodeProposals {
  const width = problem.axis.names.length;
  const { groups: offeringGroups, areAll } = offeringGroupsFor(demand.kinds, width, undefined, narrowed);
  const proposals = (nodes: readonly NodeBatch[], isOptimal: boolean): NodeProposals => ({
    nodes: nodes.map((batch) => nodeFor(batch, offeringGroups[batch.offeringGroup], demand, problem.sets)),
    targets: targetsOf(demand, nodes),
    cost: priceOf(nodes),
    isOptimal: isOptimal && areAll && demand.forecastZones.length === 0,
  });
  if (isTiny(demand)) {
    const contents = demand.items.map(({ pods }, item) => [item, pods] as const);
    const nodes = new OptimalPacker(demand, offeringGroups, new Float64Array(demand.items.length)).pack(contents);
    if (nodes !== undefined && nodes.length > 0) return proposals(nodes, true);
  }
  const shadowPrices = new ShadowPrices(offeringGroups, demand.items, demand.kinds.length, width, dualRounds(demand));
  const packer = new Packer(demand, offeringGroups, shadowPrices, width);
  const all = Int32Array.from(demand.items, ({ pods }) => pods);
  let best: readonly NodeBatch[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  for (const variant of VARIANTS) {
    if (packer.isSpent) break;
    const batches = packer.packBelow(all, variant, lowest);
    // An unfinished packing is cheaper only because pods are left out.
    if (packer.isSpent && best.length > 0) break;
    if (batches !== undefined) [best, lowest] = [batches, priceOf(batches)];
  }
  const start = best.flatMap(single);
  const optimal = new OptimalPacker(demand, offeringGroups, packer.values);
  const whole = optimal.pack(podsOf(start), lowest - MIN_GAIN);
  // The parts of few nodes are soon all packed optimally, whatever the first packing was.
  const ruined = (): readonly NodeBatch[] =>
    start.length < MIN_NODES_FOR_RUIN ? start : ruinAndRecreate(start, packer, demand.items.length);
  const improved = (): readonly NodeBatch[] => repackParts(ruined(), optimal);
  return proposals(whole?.length === 0 ? start : (whole ?? improved()), whole !== undefined);
}

/** Whether a demand has so few packings that the cheapest is found at once. */
function isTiny({ items }: Demand): boolean {
  let states = 1;
  for (const { pods } of items) {
    states *= pods + 1;
    if (states > MAX_TINY_STATES) return false;
  }
  return true;
}

/** Rounds of the dual search: more rounds for more items. */
export function dualRounds({ items }: Demand): number {
  return items.length > MAX_FEW_ITEMS ? DUAL_ROUNDS : DUAL_ROUNDS_FEW_ITEMS;
}

/** The proposed node of a batch; undefined when its pods' requirements exclude each other. */
function nodeFor(
  { contents, type }: NodeBatch,
  offeringGroup: OfferingGroup | undefined,
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
  return set && { template, type, set, pods: contents.reduce((sum, [, n]) => sum + n, 0) };
}

/** A batch as batches of one node each. */
export function single(batch: NodeBatch): readonly NodeBatch[] {
  return Array.from({ length: batch.nodes }, () => ({ ...batch, nodes: 1 }));
}

/**
 * Improves a packing by ruin and recreate (Schrimpf et al. 2000): each step removes some nodes with a high loss and a
 * few others, packs their pods again, and keeps the new nodes if they are cheaper. Deterministic: the pseudo-random
 * numbers start from the number of nodes.
 */
export function ruinAndRecreate(start: readonly NodeBatch[], packer: Packer, items: number): readonly NodeBatch[] {
  let nodes = [...start];
  const steps = Math.min(MAX_STEPS, MAX_STEPS_PER_NODE * nodes.length, MAX_NODES_SCANNED / nodes.length);
  const next = xorshift32(nodes.length);
  for (let step = 0; step < steps && nodes.length > 1 && !packer.isSpent; step++) {
    // Alternately by loss and by loss per dollar: the second ruins small nodes, of which many may become a few large
    // ones.
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
    const variant = isByPrice ? SMALL_NODES_VARIANT : (VARIANTS[next() % VARIANTS.length] ?? SMALL_NODES_VARIANT);
    const batches = packer.packBelow(pods, variant, priceOf(ruined) - MIN_GAIN);
    if (packer.isSpent || batches === undefined) continue;
    nodes = [...nodes.filter((_, i) => !chosen.has(i)), ...batches.flatMap(single)];
  }
  return nodes;
}

/** Assigns each pod a node: the pods of an item in the order of their classes. */
function targetsOf({ items, itemOfPod }: Demand, batches: readonly NodeBatch[]): NodeProposals["targets"] {
  const queues = items.map((): { readonly node: number; pods: number }[] => []);
  batches.forEach(({ contents }, node) => {
    for (const [item, pods] of contents) queues[item]?.push({ node, pods });
  });
  const heads = new Int32Array(items.length);
  return itemOfPod.map((itemIndexes) =>
    itemIndexes?.map((item) => {
      const next = queues[item]?.[heads[item] ?? 0];
      if (next === undefined) return -1;
      if (--next.pods === 0) heads[item] = (heads[item] ?? 0) + 1;
      return next.node;
    }),
  );
}
