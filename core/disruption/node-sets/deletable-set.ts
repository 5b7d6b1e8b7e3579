import type { Sketch } from "../../scheduling/make-trial.ts";
import { mixed } from "../../scheduling/problem/strategy.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { type Candidate, podsMoved } from "../cluster/candidate.ts";
import { totalPrice } from "../consolidation/consolidation.ts";
import { netSavings } from "../consolidation/payback.ts";
import type { DisruptionSettings } from "../settings.ts";
import { perTrouble, type Wasteful } from "./savings-potential.ts";

/** More nodes at once are left to the next pass. */
export const MOST_NODES = 1_000;
/** Candidates looked at in all orders together, and orders at most. */
const LOOKS = 10_000;
const MOST_ORDERS = 150;
/** Pods that are placed anew for the sake of one more node, in all orders together. */
const MOST_ANEW = 40_000;

type Rank = (wasteful: Wasteful) => number;

const RANKS: readonly Rank[] = [
  perTrouble,
  ({ candidate }) => candidate.pricePerHour / candidate.disruptionCost,
  ({ waste }) => waste,
  ({ candidate }) => candidate.pricePerHour,
];

/**
 * Nodes that can be emptied together without buying anything, in the order of their going. Which can depends on who goes first: nodes are tried in
 * several orders, then in orders that differ a little from the best, as often as the size of the cluster allows, and what is worth most is taken.
 */
export function bestEmptied(
  sketch: Sketch,
  wasteful: readonly Wasteful[],
  budgets: ReadonlyMap<string, PoolBudget>,
  settings: DisruptionSettings,
): readonly Candidate[] {
  let best: readonly Candidate[] = [];
  let most = 0;
  let rank = perTrouble;
  const anew = { left: MOST_ANEW };
  const tryOrder = (by: Rank): void => {
    const emptied = emptiedInTurn(sketch, ordered(wasteful, by), budgets, anew);
    const net = netSavings(settings, emptied, totalPrice(emptied));
    if (net > most) [best, most, rank] = [emptied, net, by];
  };
  for (const by of RANKS) tryOrder(by);
  const orders = best.length === 0 ? 0 : Math.min(MOST_ORDERS, Math.floor(LOOKS / wasteful.length));
  for (let n = RANKS.length; n < orders; n++) {
    const from = rank;
    // Between half and twice as wanted as before.
    tryOrder((item) => from(item) * 2 ** (mixed(n, item.candidate.node) / 2 ** 31 - 1));
  }
  return best;
}

function ordered(wasteful: readonly Wasteful[], by: Rank): readonly Candidate[] {
  return wasteful
    .map((item) => ({ candidate: item.candidate, rank: by(item) }))
    .sort((a, b) => b.rank - a.rank || (a.candidate.node < b.candidate.node ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/** Empties one after another where the others have room; pods go to those first that would go last. */
function emptiedInTurn(
  { rearrangement }: Sketch,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  anew: { left: number },
): readonly Candidate[] {
  const budget = allowance(budgets);
  const start = rearrangement.mark;
  rearrangement.offerFirst(candidates.map(({ node }) => node).reverse());
  let emptied: Candidate[] = [];
  const isEmptied = (candidate: Candidate): boolean => {
    if (rearrangement.empty(candidate.node)) return true;
    if (emptied.length === 0 || anew.left <= 0) return false;
    // Those that went before have taken the room that suited its pods: all look for places anew.
    anew.left -= podsMoved([...emptied, candidate]);
    rearrangement.backTo(start);
    if (rearrangement.emptyTogether([...emptied, candidate].map(({ node }) => node))) return true;
    emptied = emptied.filter(({ node }) => rearrangement.empty(node));
    return false;
  };
  for (const candidate of candidates) {
    const pool = candidate.nodePool.metadata.name;
    if (emptied.length === MOST_NODES || budget.left(pool) <= 0 || !isEmptied(candidate)) continue;
    budget.take(pool);
    emptied.push(candidate);
  }
  rearrangement.backTo(start);
  return emptied;
}
