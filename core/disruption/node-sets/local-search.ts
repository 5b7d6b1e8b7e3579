import { hashedNumber } from "../../lib/pseudo-random.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import { type Candidate, nameOfSet, podsMoved } from "../cluster/candidate.ts";
import { netSavings } from "../consolidation/payback.ts";
import { totalCost } from "../prices/cost.ts";
import type { NodeSetProblem, SavingsPotential } from "./savings-potential.ts";

/**
 * Steps of the search end when so many pods have been placed in all of them together, or after so many steps.
 * `npm run -s bench -- consolidate` chose MAX_PLACEMENTS: half the time in a cluster of 100 nodes, with the same
 * savings.
 */
const MAX_PLACEMENTS = 12_000;
const MAX_STEPS = 500;
/** Nodes that one step adds or removes, at most. No benchmark is on record for it. */
const MAX_NODES_PER_STEP = 4;
/**
 * The scheduler finds cheaper nodes than the trial cluster: a set is still proposed when it saves less than the best so
 * far by up to this share of its price. No benchmark is on record for it.
 */
const TRIAL_TOLERANCE = 0.05;

/** A set of nodes that saves on the trial cluster and is worth a simulation. */
interface Proposal {
  readonly candidates: readonly Candidate[];
  /** Net savings on the trial cluster, USD per hour (netSavings). */
  readonly net: number;
}

/**
 * Local search on the trial cluster: each step adds some nodes to the set or removes some from it, nodes of a high
 * savings ratio more often, and keeps the change when the set saves more. Returns the proposals, best first. Random
 * numbers follow from the step, so the same cluster gives the same result.
 */
export function improveNodeSet(
  { trial: { trialCluster }, potentials, budgets, settings }: NodeSetProblem,
  start: readonly Candidate[],
): readonly Proposal[] {
  const netOf = (candidates: readonly Candidate[]): number => {
    const { unplaced, cost } = trialCluster.costOfRemoving(candidates.map(({ node }) => node));
    if (unplaced.length > 0) return Number.NEGATIVE_INFINITY;
    return netSavings(settings, candidates, totalCost(candidates) - cost);
  };
  const found = new Map<string, Proposal>();
  let current: readonly Candidate[] = start;
  let most = start.length > 0 ? netOf(start) : 0;
  let placements = 0;
  for (let step = 0; step < MAX_STEPS && placements < MAX_PLACEMENTS; step++) {
    const next = changed(current, potentials, step, budgets);
    if (next.length === 0) continue;
    placements += 1 + podsMoved(next);
    const net = netOf(next);
    if (net > most - TRIAL_TOLERANCE * totalCost(next)) {
      found.set(nameOfSet(next), { candidates: next, net });
    }
    if (net > most) [current, most] = [next, net];
  }
  return [...found.values()].sort((a, b) => b.net - a.net);
}

/** The set with some nodes added or removed, as far as the budgets allow. */
function changed(
  current: readonly Candidate[],
  potentials: readonly SavingsPotential[],
  step: number,
  budgets: ReadonlyMap<string, PoolBudget>,
): readonly Candidate[] {
  const set = new Set(current);
  const changes = 1 + (hashedNumber(step, "changes") % MAX_NODES_PER_STEP);
  for (let n = 0; n < changes; n++) {
    const share = hashedNumber(step, `change ${n}`) / 2 ** 32;
    // Squared, so that nodes of a high savings ratio are drawn more often.
    const candidate = potentials[Math.floor(share * share * potentials.length)]?.candidate;
    if (candidate === undefined) continue;
    if (!set.delete(candidate) && hasBudget(candidate, set, budgets)) set.add(candidate);
  }
  return [...set];
}

function hasBudget({ nodePool }: Candidate, set: ReadonlySet<Candidate>, budgets: ReadonlyMap<string, PoolBudget>): boolean {
  let inSet = 0;
  for (const other of set) if (other.nodePool === nodePool) inSet++;
  return inSet < (budgets.get(nodePool.metadata.name)?.allowed ?? 0);
}
