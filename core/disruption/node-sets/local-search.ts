import { hashedNumber } from "../../lib/pseudo-random.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import { type Candidate, nameOfSet, podsMoved } from "../cluster/candidate.ts";
import { netSavingsOfSet } from "../consolidation/payback.ts";
import { totalPrice } from "../prices/savings.ts";
import type { DisruptionSettings } from "../settings.ts";
import type { SavingsPotential } from "./savings-potential.ts";

/** Steps: by work, pods that are placed in all of them together, and at most. */
const MAX_PLACEMENTS = 12_000;
const MAX_STEPS = 500;
/** Nodes that change sides in one step, at most. */
const MAX_NODES_PER_STEP = 4;
/** The scheduler finds cheaper machines than the sketch: a set may look dearer than it is by this share of its price. */
const TRIAL_TOLERANCE = 0.05;

/** A set of nodes that the sketch thinks well of. */
export interface Proposal {
  readonly candidates: readonly Candidate[];
  /** USD per hour that it would save by the sketch, less what the move counts as. */
  readonly net: number;
}

/**
 * Betters a set of nodes on the sketch: in each step some nodes, wasteful ones more often, change sides, and that is kept if the set is worth more then.
 * Returns the sets that were found best, the best first. Steps are drawn alike for the same cluster.
 */
export function improveNodeSet(
  { trialCluster }: ConsolidationTrial,
  start: readonly Candidate[],
  potentials: readonly SavingsPotential[],
  budgets: ReadonlyMap<string, PoolBudget>,
  settings: DisruptionSettings,
): readonly Proposal[] {
  const worthOfSet = (candidates: readonly Candidate[]): number => {
    const { unplaced, newNodes, price } = trialCluster.costOfRemoving(candidates.map(({ node }) => node));
    if (unplaced.length > 0) return Number.NEGATIVE_INFINITY;
    return netSavingsOfSet(settings, candidates, totalPrice(candidates) - price, newNodes);
  };
  const found = new Map<string, Proposal>();
  let current: readonly Candidate[] = start;
  let most = start.length > 0 ? worthOfSet(start) : 0;
  let placements = 0;
  for (let step = 0; step < MAX_STEPS && placements < MAX_PLACEMENTS; step++) {
    const next = changed(current, potentials, step, budgets);
    if (next.length === 0) continue;
    placements += 1 + podsMoved(next);
    const net = worthOfSet(next);
    if (net > most - TRIAL_TOLERANCE * totalPrice(next)) {
      found.set(nameOfSet(next), { candidates: next, net });
    }
    if (net > most) [current, most] = [next, net];
  }
  return [...found.values()].sort((a, b) => b.net - a.net);
}

/** The set with some nodes more or fewer, as far as the budgets allow. */
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
    // Squared: the first of the row come more often than the last.
    const candidate = potentials[Math.floor(share * share * potentials.length)]?.candidate;
    if (candidate === undefined) continue;
    if (!set.delete(candidate) && hasBudget(candidate, set, budgets)) set.add(candidate);
  }
  return [...set];
}

function hasBudget({ nodePool }: Candidate, set: ReadonlySet<Candidate>, budgets: ReadonlyMap<string, PoolBudget>): boolean {
  let going = 0;
  for (const other of set) if (other.nodePool === nodePool) going++;
  return going < (budgets.get(nodePool.metadata.name)?.allowed ?? 0);
}
