import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { type Candidate, capacityTypeOf, instanceTypeNameOf } from "../cluster/candidate.ts";
import { byGain } from "../cluster/disruption-cost.ts";
import { type ConsolidationContext, isConsolidationCandidate } from "../consolidation/consolidation.ts";
import type { Decision } from "../consolidation/decision.ts";
import { capacityTypeOfPlanned } from "../reports/wording.ts";
import { bestEmptied, MOST_NODES } from "./deletable-set.ts";
import { exchanged } from "./local-search.ts";
import { multiNode } from "./multi-node.ts";
import { type Wasteful, wastefulFirst } from "./savings-potential.ts";
import { MOST_REPLACEMENTS, type Removable, SetTrials } from "./set-trials.ts";

/** Trials of a sweep: each lays the whole cluster out, so large ones get fewer. */
const TRIAL_WORK = 1_500;
const FEWEST_TRIALS = 4;
const MOST_TRIALS = 40;
/** In a small cluster a sketch tells least and trials cost least: Karpenter's own way of choosing is tried too. */
const FEW_NODES = 200;
/** So many sets in a row may be worth less than the best before growing stops. */
const PATIENCE = 2;
/** A sketch may promise a little more than it keeps: of so many nodes that it thought could go without replacement, one may need it. */
const SLACK = 10;
/** Sets that the sketch proposes are tried in so many rounds, so many in each. */
const ROUNDS = 2;
const PROPOSALS = 8;
/** Less waste than this (USD per hour) is none. */
const NO_WASTE = 1e-6;

/**
 * Chooses the nodes that go together from all pools at once, by what is wasted on them for each pod that must move: first those whose pods fit on
 * nodes that stay, then those for whose pods machines of another mix cost less. One set may be replaced by any number of nodes. Sets are
 * made up on a sketch of the cluster, where a question costs little; the few that look best are tried by the scheduler.
 */
export function jointly(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  outOfTime: () => boolean = () => false,
): Decision {
  const { view } = context;
  const eligible = candidates.filter((candidate) => isConsolidationCandidate(candidate, view.now)).sort(byGain);
  const sketch = eligible.length > 0 ? context.sketch?.() : undefined;
  if (sketch === undefined) return { blocked: [], eligible: eligible.length };
  const wasteful = wastefulFirst(eligible, sketch);
  const most = Math.max(FEWEST_TRIALS, Math.min(MOST_TRIALS, Math.floor(TRIAL_WORK / view.machines.size)));
  const trials = new SetTrials(context, most);
  const gone = tryLongest(bestEmptied(sketch, wasteful, budgets, context.settings), trials, outOfTime);
  grow(gone, wasteful, budgets, trials, outOfTime);
  if (gone.length > 0) grow([], wasteful, budgets, trials, outOfTime);
  const isSmall = view.machines.size <= FEW_NODES;
  if (isSmall) {
    const { found: longest } = multiNode(context, eligible, budgets, outOfTime);
    if (longest) trials.consider(longest.candidates, { destinations: {}, ...longest });
  }
  // In a large cluster there is another pass soon: what looks deeper waits until nothing else is found.
  for (let round = 0; round < ROUNDS && (isSmall || trials.best === undefined); round++) {
    const before = trials.best;
    const proposals = exchanged(sketch, before?.candidates ?? [], wasteful, budgets, context.settings);
    for (const { candidates: proposed } of proposals.slice(0, PROPOSALS)) {
      if (!trials.isSpent && !outOfTime()) trials.try(proposed, MOST_REPLACEMENTS, "full");
    }
    if (trials.best === before) break;
  }
  keepWhatWouldComeBack(trials, outOfTime);
  const found = trials.best;
  const blocked = found === undefined ? [] : spent(eligible, found, budgets);
  return { ...(found ? { found } : {}), blocked, eligible: eligible.length, tried: trials.tried };
}

/** The longest prefix, by bisection, that the scheduler lets go: a sketch may promise more than it keeps. */
function tryLongest(ordered: readonly Candidate[], trials: SetTrials, outOfTime: () => boolean): readonly Candidate[] {
  let longest: readonly Candidate[] = [];
  let low = 1;
  let high = ordered.length;
  for (let length = high; low <= high && !trials.isSpent && !outOfTime(); length = (low + high) >> 1) {
    const prefix = ordered.slice(0, length);
    if ("net" in trials.try(prefix, 1 + Math.floor(length / SLACK), "quick")) {
      longest = prefix;
      low = length + 1;
    } else high = length - 1;
  }
  return longest;
}

/** Adds nodes whose pods need new machines, the most wasteful first: one, then twice as many, as long as that is worth more. */
function grow(
  gone: readonly Candidate[],
  wasteful: readonly Wasteful[],
  budgets: ReadonlyMap<string, PoolBudget>,
  trials: SetTrials,
  outOfTime: () => boolean,
): void {
  const budget = allowance(budgets);
  for (const { nodePool } of gone) budget.take(nodePool.metadata.name);
  const taken = new Set(gone);
  const others = wasteful.filter(({ candidate, waste }) => {
    if (waste < NO_WASTE || taken.has(candidate)) return false;
    return budget.take(candidate.nodePool.metadata.name);
  });
  const trySize = (size: number): Removable | Blocked =>
    trials.try([...gone, ...others.slice(0, size).map(({ candidate }) => candidate)], MOST_REPLACEMENTS, "full");
  const longest = Math.min(others.length, MOST_NODES - gone.length);
  let best = 0;
  let most = trials.best?.net ?? 0;
  let failures = 0;
  for (let size = 1; failures < PATIENCE && size <= longest && !trials.isSpent && !outOfTime(); size = Math.min(longest, size * 2)) {
    const outcome = trySize(size);
    if ("net" in outcome && outcome.net > most) {
      [best, most, failures] = [size, outcome.net, 0];
    } else if ("net" in outcome || outcome.reason !== "SpotToSpotDisabled") failures++;
    if (size === longest) break;
  }
  for (const size of [Math.round(best * 1.4), Math.round(best * 0.7)]) {
    if (size > 0 && size !== best && size <= longest && !trials.isSpent && !outOfTime()) trySize(size);
  }
}

/**
 * A node that goes while one of its kind comes might as well stay: tries the best set without such nodes, as often as that helps.
 */
function keepWhatWouldComeBack(trials: SetTrials, outOfTime: () => boolean): void {
  for (let before: Removable | undefined; trials.best !== before && !trials.isSpent && !outOfTime(); ) {
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
function spent(
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
