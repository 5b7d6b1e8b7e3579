import type { PlannedNodeClaim } from "../../model/plan.ts";
import { MIN_SAVINGS } from "../../model/prices.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { byPricePerDisruptionCost, type Candidate, capacityTypeOf, instanceTypeNameOf } from "../cluster/candidate.ts";
import { type ConsolidationContext, isConsolidationCandidate } from "../consolidation/consolidation.ts";
import type { Decision } from "../consolidation/decision.ts";
import { capacityTypeOfPlanned } from "../consolidation/replacement.ts";
import { bestDeletableSet, MAX_NODES } from "./deletable-set.ts";
import { improveNodeSet } from "./local-search.ts";
import { multiNode } from "./multi-node.ts";
import { bySavingsRatio, type SavingsPotential } from "./savings-potential.ts";
import { MAX_REPLACEMENTS, type Removable, SetTrials } from "./set-trials.ts";

/** Trials of a sweep: each lays the whole cluster out, so large ones get fewer. */
const TRIAL_BUDGET = 1_500;
const MIN_TRIALS = 4;
const MAX_TRIALS = 40;
/** In a small cluster a sketch tells least and trials cost least: Karpenter's own way of choosing is tried too. */
const SMALL_CLUSTER_NODES = 200;
/** So many sets in a row may be worth less than the best before growing stops. */
const MAX_FAILED_GROWTHS = 2;
/** A sketch may promise a little more than it keeps: of so many nodes that it thought could go without replacement, one may need it. */
const NODES_PER_TOLERATED_REPLACEMENT = 10;
/** Sets that the sketch proposes are tried in so many rounds, so many in each. */
const LOCAL_SEARCH_ROUNDS = 2;
const PROPOSALS_PER_ROUND = 8;

/**
 * Chooses the nodes that go together from all pools at once, by what is wasted on them for each pod that must move: first those whose pods fit on
 * nodes that stay, then those for whose pods machines of another mix cost less. One set may be replaced by any number of nodes. Sets are
 * made up on a sketch of the cluster, where a question costs little; the few that look best are tried by the scheduler.
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
  const potentials = bySavingsRatio(eligible, trial);
  const most = Math.max(MIN_TRIALS, Math.min(MAX_TRIALS, Math.floor(TRIAL_BUDGET / view.machines.size)));
  const trials = new SetTrials(context, most);
  const gone = longestDeletablePrefix(bestDeletableSet(trial, potentials, budgets, context.settings), trials, outOfTime);
  addNodes(gone, potentials, budgets, trials, outOfTime);
  if (gone.length > 0) addNodes([], potentials, budgets, trials, outOfTime);
  const isSmall = view.machines.size <= SMALL_CLUSTER_NODES;
  if (isSmall) {
    const { found: longest } = multiNode(context, eligible, budgets, outOfTime);
    if (longest) trials.consider(longest.candidates, { destinations: {}, ...longest });
  }
  // In a large cluster there is another pass soon: what looks deeper waits until nothing else is found.
  for (let round = 0; round < LOCAL_SEARCH_ROUNDS && (isSmall || trials.best === undefined); round++) {
    const before = trials.best;
    const proposals = improveNodeSet(trial, before?.candidates ?? [], potentials, budgets, context.settings);
    for (const { candidates: proposed } of proposals.slice(0, PROPOSALS_PER_ROUND)) {
      if (!trials.isExhausted && !outOfTime()) trials.try(proposed, MAX_REPLACEMENTS, "full");
    }
    if (trials.best === before) break;
  }
  keepNodesReplacedByTheirLike(trials, outOfTime);
  const found = trials.best;
  const blocked = found === undefined ? [] : blockedByBudget(eligible, found, budgets);
  return { ...(found ? { found } : {}), blocked, eligible: eligible.length, tried: trials.tried };
}

/** The longest prefix, by bisection, that the scheduler lets go: a sketch may promise more than it keeps. */
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

/** Adds nodes whose pods need new machines, the most wasteful first: one, then twice as many, as long as that is worth more. */
function addNodes(
  gone: readonly Candidate[],
  potentials: readonly SavingsPotential[],
  budgets: ReadonlyMap<string, PoolBudget>,
  trials: SetTrials,
  outOfTime: () => boolean,
): void {
  const budget = allowance(budgets);
  for (const { nodePool } of gone) budget.take(nodePool.metadata.name);
  const taken = new Set(gone);
  const others = potentials.filter(({ candidate, potential }) => {
    if (potential < MIN_SAVINGS || taken.has(candidate)) return false;
    return budget.take(candidate.nodePool.metadata.name);
  });
  const trySize = (size: number): Removable | Blocked =>
    trials.try([...gone, ...others.slice(0, size).map(({ candidate }) => candidate)], MAX_REPLACEMENTS, "full");
  const longest = Math.min(others.length, MAX_NODES - gone.length);
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
 * A node that goes while one of its kind comes might as well stay: tries the best set without such nodes, as often as that helps.
 */
function keepNodesReplacedByTheirLike(trials: SetTrials, outOfTime: () => boolean): void {
  for (let before: Removable | undefined; trials.best !== before && !trials.isExhausted && !outOfTime(); ) {
    before = trials.best;
    const { candidates, replacements } = before ?? { candidates: [], replacements: [] };
    const coming = replacements.map(kindOfPlanned);
    const kept = candidates.filter((candidate) => {
      const at = coming.indexOf(kindOf(candidate));
      if (at >= 0) coming.splice(at, 1);
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

/** Nodes that had to stay because the budgets of their pools are spent. */
function blockedByBudget(
  eligible: readonly Candidate[],
  { candidates }: Removable,
  budgets: ReadonlyMap<string, PoolBudget>,
): readonly BlockedNode[] {
  const budget = allowance(budgets);
  for (const { nodePool } of candidates) budget.take(nodePool.metadata.name);
  const going = new Set(candidates);
  return eligible.flatMap((candidate): BlockedNode[] => {
    const nodePool = candidate.nodePool.metadata.name;
    if (going.has(candidate) || budget.left(nodePool) > 0) return [];
    return [
      { node: candidate.node, nodeClaim: candidate.nodeClaim, blocked: { reason: "BudgetSpent", nodePool, disruption: "Underutilized" } },
    ];
  });
}
