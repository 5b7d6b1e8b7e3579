import { NODE_POOL } from "../../model/labels.ts";
import { evictionCost } from "../../pods/eviction-cost.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";
import type { Blocked } from "../cluster/blocked.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { ClusterView } from "../cluster/view.ts";
import { nodePrice } from "../prices/price.ts";

/** The share of a pool's cost that is saved must be at least half the share of its disruption that is caused (k = 2). */
export const WORTH_IT = 0.5;

/** How a move weighs on one pool of policy Balanced (disruption.md §10). */
export interface Score {
  readonly nodePool: string;
  readonly score: number;
  /** Of the pool's cost, between 0 and 1. */
  readonly savings: number;
  /** Of the cost of disrupting the whole pool. */
  readonly disruption: number;
}

/** USD per hour of a pool, and what it would cost to disrupt all of it. */
function poolTotals(view: ClusterView, pool: string): { readonly cost: number; readonly disruption: number } {
  const types = view.snapshot.instanceTypes.get(pool) ?? [];
  let cost = 0;
  let disruption = 0;
  for (const { labels, node, pods } of view.machines.values()) {
    if (labels[NODE_POOL] !== pool) continue;
    cost += nodePrice(labels, types);
    if (!node) continue;
    disruption += 1;
    for (const pod of pods) if (isActive(pod) && !isDaemonSetPod(pod)) disruption += Math.max(0, evictionCost(pod));
  }
  return { cost, disruption };
}

function scoreOf(savings: number, disruption: number): number {
  if (savings <= 0) return 0;
  return disruption === 0 ? Number.POSITIVE_INFINITY : savings / disruption;
}

/** Scores of the Balanced pools that a move touches; what is saved is split among pools by what their nodes cost. */
export function scores(view: ClusterView, candidates: readonly Candidate[], savingsPerHour: number): readonly Score[] {
  const total = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  return [...Map.groupBy(candidates, ({ nodePool }) => nodePool)].flatMap(([pool, group]) => {
    if (pool.spec.disruption?.consolidationPolicy !== "Balanced") return [];
    const nodePool = pool.metadata.name;
    const price = group.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const totals = poolTotals(view, nodePool);
    // A pool whose prices are not known is weighed by the nodes at hand.
    const cost = totals.cost > 0 ? totals.cost : price;
    if (cost <= 0 || totals.disruption <= 0) return [{ nodePool, score: 0, savings: 0, disruption: 0 }];
    const savings = (savingsPerHour * (price / total)) / cost;
    const disruption = group.reduce((sum, candidate) => sum + candidate.disruptionCost, 0) / totals.disruption;
    return [{ nodePool, score: scoreOf(savings, disruption), savings, disruption }];
  });
}

/** The first Balanced pool that finds too little saved for what is disrupted. */
export function notWorthIt(view: ClusterView, candidates: readonly Candidate[], savingsPerHour: number): Blocked | undefined {
  const poor = scores(view, candidates, savingsPerHour).find(({ score }) => score < WORTH_IT);
  return poor && { reason: "NotWorthIt", nodePool: poor.nodePool, score: poor.score };
}
