import { hashedNumber } from "../../lib/pseudo-random.ts";
import { podKey } from "../../pods/predicates.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { type Candidate, podsMoved } from "../cluster/candidate.ts";
import { netSavings } from "../consolidation/payback.ts";
import { totalCost } from "../prices/cost.ts";
import { type NodeSetProblem, type SavingsPotential, savingsRatio } from "./savings-potential.ts";

/** Nodes of one set at most; the next pass removes more. */
const MAX_NODES = 1_000;
/**
 * Characters of the names of all pods that a set moves, at most: one item of the table holds the command, which names
 * each pod and its destination. An item has at most 400 KB, and names that are random are stored in 0.8 bytes a
 * character. Names of Deployments' pods take 6,000 pods to this bound.
 */
const MAX_NAME_CHARACTERS = 240_000;

/** Candidates are counted as they join a set; says whether one more fits into the set's command. */
export class CommandSize {
  #nodes = 0;
  #characters = 0;

  /** Counts the candidate unless it is one too many. The first of a set always fits. */
  take({ reschedulable }: Pick<Candidate, "reschedulable">): boolean {
    const characters = reschedulable.reduce((sum, pod) => sum + podKey(pod).length, this.#characters);
    if (this.#nodes === MAX_NODES || (this.#nodes > 0 && characters > MAX_NAME_CHARACTERS)) return false;
    this.#nodes++;
    this.#characters = characters;
    return true;
  }
}
/**
 * Candidates checked in all orders together, and orders at most. `npm run -s bench -- consolidate` chose both: half as
 * many orders in a large cluster saved the same in less time.
 */
const MAX_CANDIDATE_CHECKS = 10_000;
const MAX_ORDERS = 150;
/**
 * Pods that are placed again to empty one more node, in all orders together; bounds the time of a cluster of 1,000
 * nodes.
 */
const MAX_REPLACED_PODS = 40_000;

/** A sort key of candidates; the highest is emptied first. */
type Rank = (item: SavingsPotential) => number;

const RANKS: readonly Rank[] = [
  savingsRatio,
  ({ candidate }) => candidate.pricePerHour / candidate.disruptionCost,
  ({ potential }) => potential,
  ({ candidate }) => candidate.pricePerHour,
];

/**
 * The nodes that can be emptied together without a new node and that save most, in the order in which they were
 * emptied. Which nodes fit depends on the order: several orders are tried, then pseudo-random variations of the best,
 * as many as the size of the cluster allows.
 */
export function bestDeletableSet({ trial, potentials, budgets, settings }: NodeSetProblem): readonly Candidate[] {
  let best: readonly Candidate[] = [];
  let most = 0;
  let rank = savingsRatio;
  const podPlacements = { left: MAX_REPLACED_PODS };
  const tryOrder = (by: Rank): void => {
    const set = emptiedInTurn(trial, ordered(potentials, by), budgets, podPlacements);
    const net = netSavings(settings, set, totalCost(set));
    if (net > most) [best, most, rank] = [set, net, by];
  };
  for (const by of RANKS) tryOrder(by);
  const orders = best.length === 0 ? 0 : Math.min(MAX_ORDERS, Math.floor(MAX_CANDIDATE_CHECKS / potentials.length));
  for (let n = RANKS.length; n < orders; n++) {
    const from = rank;
    // Multiplies each rank by a pseudo-random factor between 0.5 and 2.
    tryOrder((item) => from(item) * 2 ** (hashedNumber(n, item.candidate.node) / 2 ** 31 - 1));
  }
  return best;
}

function ordered(potentials: readonly SavingsPotential[], by: Rank): readonly Candidate[] {
  return potentials
    .map((item) => ({ candidate: item.candidate, rank: by(item) }))
    .sort((a, b) => b.rank - a.rank || (a.candidate.node < b.candidate.node ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/**
 * Empties candidates one after another as far as budgets and the room on other nodes allow. Pods move first to the
 * candidates that come last in the order, because those are the least likely to be removed.
 */
function emptiedInTurn(
  { trialCluster }: ConsolidationTrial,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  podPlacements: { left: number },
): readonly Candidate[] {
  const budget = allowance(budgets);
  const start = trialCluster.checkpoint;
  trialCluster.preferNodes(candidates.map(({ node }) => node).reverse());
  const size = new CommandSize();
  let emptied: Candidate[] = [];
  const isEmptied = (candidate: Candidate): boolean => {
    if (trialCluster.tryEmpty(candidate.node)) return true;
    if (emptied.length === 0 || podPlacements.left <= 0) return false;
    // Pods of earlier candidates may have taken the room that its pods need: place the pods of all of them again,
    // together.
    podPlacements.left -= podsMoved([...emptied, candidate]);
    trialCluster.revertTo(start);
    if (trialCluster.tryEmptyTogether([...emptied, candidate].map(({ node }) => node))) return true;
    emptied = emptied.filter(({ node }) => trialCluster.tryEmpty(node));
    return false;
  };
  for (const candidate of candidates) {
    const pool = candidate.nodePool.metadata.name;
    if (budget.left(pool) <= 0 || !isEmptied(candidate)) continue;
    if (!size.take(candidate)) break;
    budget.take(pool);
    emptied.push(candidate);
  }
  trialCluster.revertTo(start);
  return emptied;
}
