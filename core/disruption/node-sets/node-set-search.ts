// The search for sets of nodes to consolidate together. In come candidates and budgets, out comes the set that saves
// most. Sets are searched on a trial cluster with checkpoints (core/scheduling/trial-cluster.ts), which is fast, and
// the scheduler then simulates the best few (set-trials.ts). Nothing is known here of commands, events or metrics.

import type { PlannedNodeClaim } from "../../model/plan.ts";
import { MIN_SAVINGS } from "../../model/prices.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, byPricePerDisruptionCost, type Candidate, capacityTypeOf, instanceTypeNameOf } from "../cluster/candidate.ts";
import { type ConsolidationContext, isConsolidationCandidate } from "../consolidation/consolidation.ts";
import type { Decision, Tried } from "../consolidation/decision.ts";
import { capacityTypeOfPlanned } from "../consolidation/replacement.ts";
import { bestDeletableSet, CommandSize } from "./deletable-set.ts";
import { improveNodeSet } from "./local-search.ts";
import { multiNode } from "./multi-node.ts";
import { bySavingsRatio, type NodeSetProblem } from "./savings-potential.ts";
import { MAX_REPLACEMENTS, type RemovableSet, SetTrials } from "./set-trials.ts";
import { stepTowardDestination } from "./toward-destination.ts";

/**
 * Simulations of one search: TRIAL_BUDGET / nodes of the cluster, within the other two, because each simulation
 * schedules the whole cluster. `npm run -s bench -- consolidate` chose TRIAL_BUDGET: half the time in a cluster of 100
 * nodes, with the same savings.
 */
const TRIAL_BUDGET = 1_500;
const MIN_TRIALS = 4;
const MAX_TRIALS = 40;
/**
 * Up to so many nodes, where simulations are cheap, MultiNodeConsolidation is tried too. No benchmark is on record for
 * it.
 */
const SMALL_CLUSTER_NODES = 200;
/**
 * Up to so many nodes there is no destination: the fresh plan has too few nodes to say which nodes stay. Of the 30
 * given scenarios, none larger, eight would end dearer, by 0.7 % together.
 */
const TINY_CLUSTER_NODES = 30;
const NO_STEP = { trials: undefined, arrives: false } as const;
/** A set stops growing after so many sizes in a row that save less than the best. No benchmark is on record for it. */
const MAX_FAILED_GROWTHS = 2;
/**
 * The trial cluster is less strict than the scheduler: of so many nodes that it empties, one may need a replacement. No
 * benchmark is on record for it.
 */
const NODES_PER_TOLERATED_REPLACEMENT = 10;
/** Rounds of the local search, and proposals that are simulated in each. No benchmark is on record for them. */
const LOCAL_SEARCH_ROUNDS = 2;
const PROPOSALS_PER_ROUND = 8;

/**
 * Searches one set of nodes of all NodePools to remove together, which any number of cheaper nodes may replace: first
 * the largest set whose pods fit on other nodes, then larger sets by savings ratio, Karpenter's multi-node prefix in a
 * small cluster, and a local search. Returns the set with the highest net savings that the scheduler confirms. Replaces
 * Karpenter's MultiNodeConsolidation where there is a trial cluster.
 */
export function findNodeSet(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  outOfTime: () => boolean = () => false,
): Decision {
  const { view } = context;
  const eligible = candidates.filter((candidate) => isConsolidationCandidate(candidate, view.now)).sort(byPricePerDisruptionCost);
  const trial = eligible.length > 0 ? context.trial?.() : undefined;
  if (trial === undefined) return { blocked: [], eligible: eligible.length };
  const isSmall = view.machines.size <= SMALL_CLUSTER_NODES;
  const isTiny = view.machines.size <= TINY_CLUSTER_NODES;
  const { trials: steps, arrives } = isTiny ? NO_STEP : stepTowardDestination(context, eligible, budgets, trial, outOfTime);
  const step = steps?.best;
  // A search of a small cluster is cheap, and may find a set that saves more than arriving does.
  const isSought = step === undefined || (isSmall && arrives);
  if (!isSought) return decisionOf(step, steps?.tried ?? [], eligible, budgets);
  const problem: NodeSetProblem = { trial, potentials: bySavingsRatio(eligible, trial), budgets, settings: context.settings };
  const most = Math.max(MIN_TRIALS, Math.min(MAX_TRIALS, Math.floor(TRIAL_BUDGET / view.machines.size)));
  const trials = new SetTrials(context, most);
  const deletable = longestDeletablePrefix(bestDeletableSet(problem), trials, outOfTime);
  addNodes(problem, deletable, trials, outOfTime);
  if (deletable.length > 0) addNodes(problem, [], trials, outOfTime);
  if (isSmall) {
    const { found: longest } = multiNode(context, eligible, budgets, outOfTime);
    if (longest) trials.consider(longest.candidates, { destinations: {}, ...longest });
  }
  // In a large cluster the local search runs only when nothing else is found: another pass follows soon.
  for (let round = 0; round < LOCAL_SEARCH_ROUNDS && (isSmall || trials.best === undefined); round++) {
    const before = trials.best;
    const proposals = improveNodeSet(problem, before?.candidates ?? []);
    for (const { candidates: proposed } of proposals.slice(0, PROPOSALS_PER_ROUND)) {
      if (!trials.isExhausted && !outOfTime()) trials.try(proposed, MAX_REPLACEMENTS, "full");
    }
    if (trials.best === before) break;
  }
  keepNodesReplacedByTheirLike(trials, outOfTime);
  if (step !== undefined && arrives) trials.consider(step.candidates, step);
  return decisionOf(trials.best, [...(step === undefined ? (steps?.tried ?? []) : []), ...trials.tried], eligible, budgets);
}

function decisionOf(
  found: RemovableSet | undefined,
  tried: readonly Tried[],
  eligible: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
): Decision {
  const blocked = found === undefined ? [] : blockedByBudget(eligible, found, budgets);
  return { ...(found ? { found } : {}), blocked, eligible: eligible.length, tried };
}

/** The longest prefix, by bisection, that the scheduler confirms: the trial cluster is less strict. */
function longestDeletablePrefix(ordered: readonly Candidate[], trials: SetTrials, outOfTime: () => boolean): readonly Candidate[] {
  let longest: readonly Candidate[] = [];
  let low = 1;
  let high = ordered.length;
  for (let length = high; low <= high && !trials.isExhausted && !outOfTime(); length = (low + high) >> 1) {
    const prefix = ordered.slice(0, length);
    if ("net" in trials.try(prefix, 1 + Math.floor(length / NODES_PER_TOLERATED_REPLACEMENT), "quick")) {
      longest = prefix;
      low = length + 1;
    } else high = length - 1;
  }
  return longest;
}

/**
 * Simulates `base` with more nodes, whose pods may need new nodes, highest savings ratio first: with one, then twice as
 * many each time, as long as net savings grow; then two sizes near the best.
 */
function addNodes({ potentials, budgets }: NodeSetProblem, base: readonly Candidate[], trials: SetTrials, outOfTime: () => boolean): void {
  const budget = allowance(budgets);
  const room = new CommandSize();
  for (const candidate of base) if (room.take(candidate)) budget.take(candidate.nodePool.metadata.name);
  const taken = new Set(base);
  const others = potentials.filter(({ candidate, potential }) => {
    if (potential < MIN_SAVINGS || taken.has(candidate)) return false;
    return budget.take(candidate.nodePool.metadata.name) && room.take(candidate);
  });
  const trySize = (size: number): RemovableSet | Blocked =>
    trials.try([...base, ...others.slice(0, size).map(({ candidate }) => candidate)], MAX_REPLACEMENTS, "full");
  const longest = others.length;
  let best = 0;
  let most = trials.best?.net ?? 0;
  let failures = 0;
  for (
    let size = 1;
    failures < MAX_FAILED_GROWTHS && size <= longest && !trials.isExhausted && !outOfTime();
    size = Math.min(longest, size * 2)
  ) {
    const outcome = trySize(size);
    if ("net" in outcome && outcome.net > most) {
      [best, most, failures] = [size, outcome.net, 0];
    } else if ("net" in outcome || outcome.reason !== "SpotToSpotDisabled") failures++;
    if (size === longest) break;
  }
  for (const size of [Math.round(best * 1.4), Math.round(best * 0.7)]) {
    if (size > 0 && size !== best && size <= longest && !trials.isExhausted && !outOfTime()) trySize(size);
  }
}

/**
 * Simulates the best set without the nodes that a replacement of the same type and capacity type replaces, as long as
 * that improves it, because keeping such a node gives the same cluster with fewer moves.
 */
function keepNodesReplacedByTheirLike(trials: SetTrials, outOfTime: () => boolean): void {
  for (let before: RemovableSet | undefined; trials.best !== before && !trials.isExhausted && !outOfTime(); ) {
    before = trials.best;
    const { candidates, replacements } = before ?? { candidates: [], replacements: [] };
    const replacementKinds = replacements.map(kindOfPlanned);
    const kept = candidates.filter((candidate) => {
      const at = replacementKinds.indexOf(kindOf(candidate));
      if (at >= 0) replacementKinds.splice(at, 1);
      return at < 0;
    });
    if (kept.length > 0 && kept.length < candidates.length) trials.try(kept, replacements.length, "full");
  }
}

function kindOf(candidate: Candidate): string {
  return `${instanceTypeNameOf(candidate)}/${capacityTypeOf(candidate)}`;
}

function kindOfPlanned(planned: PlannedNodeClaim): string {
  return `${planned.instanceTypes[0] ?? ""}/${capacityTypeOfPlanned(planned)}`;
}

/** Candidates outside the set whose NodePool's budget is spent. */
function blockedByBudget(
  eligible: readonly Candidate[],
  { candidates }: RemovableSet,
  budgets: ReadonlyMap<string, PoolBudget>,
): readonly BlockedNode[] {
  const budget = allowance(budgets);
  for (const { nodePool } of candidates) budget.take(nodePool.metadata.name);
  const chosen = new Set(candidates);
  return eligible.flatMap((candidate): BlockedNode[] => {
    const nodePool = candidate.nodePool.metadata.name;
    if (chosen.has(candidate) || budget.left(nodePool) > 0) return [];
    return [budgetSpent(candidate, "Underutilized")];
  });
}
