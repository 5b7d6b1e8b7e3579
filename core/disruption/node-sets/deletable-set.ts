import { hashedNumber } from "../../lib/pseudo-random.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { type Candidate, podsMoved } from "../cluster/candidate.ts";
import { netSavings } from "../consolidation/payback.ts";
import { totalPrice } from "../prices/savings.ts";
import type { DisruptionSettings } from "../settings.ts";
import { type SavingsPotential, savingsRatio } from "./savings-potential.ts";

/** More nodes at once are left to the next pass. */
export const MAX_NODES = 1_000;
/** Candidates looked at in all orders together, and orders at most. */
const MAX_CANDIDATE_CHECKS = 10_000;
const MAX_ORDERS = 150;
/** Pods that are placed anew for the sake of one more node, in all orders together. */
const MAX_REPLACED_PODS = 40_000;

type Rank = (potentials: SavingsPotential) => number;

const RANKS: readonly Rank[] = [
  savingsRatio,
  ({ candidate }) => candidate.pricePerHour / candidate.disruptionCost,
  ({ potential }) => potential,
  ({ candidate }) => candidate.pricePerHour,
];

/**
 * Nodes that can be emptied together without buying anything, in the order of their going. Which can depends on who goes first: nodes are tried in
 * several orders, then in orders that differ a little from the best, as often as the size of the cluster allows, and what is worth most is taken.
 */
export function bestDeletableSet(
  trial: ConsolidationTrial,
  potentials: readonly SavingsPotential[],
  budgets: ReadonlyMap<string, PoolBudget>,
  settings: DisruptionSettings,
): readonly Candidate[] {
  let best: readonly Candidate[] = [];
  let most = 0;
  let rank = savingsRatio;
  const podPlacements = { left: MAX_REPLACED_PODS };
  const tryOrder = (by: Rank): void => {
    const emptied = emptiedInTurn(trial, ordered(potentials, by), budgets, podPlacements);
    const net = netSavings(settings, emptied, totalPrice(emptied));
    if (net > most) [best, most, rank] = [emptied, net, by];
  };
  for (const by of RANKS) tryOrder(by);
  const orders = best.length === 0 ? 0 : Math.min(MAX_ORDERS, Math.floor(MAX_CANDIDATE_CHECKS / potentials.length));
  for (let n = RANKS.length; n < orders; n++) {
    const from = rank;
    // Between half and twice as wanted as before.
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

/** Empties one after another where the others have room; pods go to those first that would go last. */
function emptiedInTurn(
  { trialCluster }: ConsolidationTrial,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  podPlacements: { left: number },
): readonly Candidate[] {
  const budget = allowance(budgets);
  const start = trialCluster.checkpoint;
  trialCluster.preferNodes(candidates.map(({ node }) => node).reverse());
  let emptied: Candidate[] = [];
  const isEmptied = (candidate: Candidate): boolean => {
    if (trialCluster.tryEmpty(candidate.node)) return true;
    if (emptied.length === 0 || podPlacements.left <= 0) return false;
    // Those that went before have taken the room that suited its pods: all look for places anew.
    podPlacements.left -= podsMoved([...emptied, candidate]);
    trialCluster.revertTo(start);
    if (trialCluster.tryEmptyTogether([...emptied, candidate].map(({ node }) => node))) return true;
    emptied = emptied.filter(({ node }) => trialCluster.tryEmpty(node));
    return false;
  };
  for (const candidate of candidates) {
    const pool = candidate.nodePool.metadata.name;
    if (emptied.length === MAX_NODES || budget.left(pool) <= 0 || !isEmptied(candidate)) continue;
    budget.take(pool);
    emptied.push(candidate);
  }
  trialCluster.revertTo(start);
  return emptied;
}
