import { NODE_POOL } from "../../model/labels.ts";
import { evictionCost } from "../../pods/eviction-cost.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";
import { paidNodes } from "../../scheduling/problem/paid-capacity.ts";
import type { Blocked } from "../cluster/blocked.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { ClusterView } from "../cluster/view.ts";
import { marginalPrice, nodePrice } from "../prices/price.ts";

/** 1 / k for Karpenter's k = 2 (karpenter: pkg/apis/v1/nodepool.go, BalancedK). */
export const MIN_BALANCED_SCORE = 0.5;

/**
 * The score of a move for one NodePool with policy Balanced: the share of the pool's price that it saves, over the
 * share of the pool's disruption cost that it causes. A move needs at least MIN_BALANCED_SCORE in every such pool
 * (karpenter: pkg/controllers/disruption/balanced.go, ScoreMove).
 */
export interface BalancedScore {
  readonly nodePool: string;
  readonly score: number;
  /** Share of the pool's price, between 0 and 1. */
  readonly savings: number;
  /** Share of the disruption cost of all nodes of the pool. */
  readonly disruption: number;
}

/** USD per hour of all nodes of a pool, and the disruption cost of all of them. */
function poolTotals(view: ClusterView, pool: string): { readonly cost: number; readonly disruption: number } {
  const types = view.snapshot.instanceTypes.get(pool) ?? [];
  let cost = 0;
  let disruption = 0;
  const paid = paidNodes(view.snapshot);
  for (const { labels, node, pods, claim } of view.machines.values()) {
    if (labels[NODE_POOL] !== pool) continue;
    cost += marginalPrice(nodePrice(labels, types), paid.has(claim.metadata.name));
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

/**
 * Scores of the Balanced pools that have candidates; savings are split among all pools by the price of their
 * candidates.
 */
export function scores(view: ClusterView, candidates: readonly Candidate[], savingsPerHour: number): readonly BalancedScore[] {
  const total = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  return [...Map.groupBy(candidates, ({ nodePool }) => nodePool)].flatMap(([pool, group]) => {
    if (pool.spec.disruption?.consolidationPolicy !== "Balanced") return [];
    const nodePool = pool.metadata.name;
    const price = group.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const totals = poolTotals(view, nodePool);
    // Where no price of the pool is known, the candidates represent the pool, as in Karpenter.
    const cost = totals.cost > 0 ? totals.cost : price;
    if (cost <= 0 || totals.disruption <= 0) return [{ nodePool, score: 0, savings: 0, disruption: 0 }];
    const savings = (savingsPerHour * (price / total)) / cost;
    const disruption = group.reduce((sum, candidate) => sum + candidate.disruptionCost, 0) / totals.disruption;
    return [{ nodePool, score: scoreOf(savings, disruption), savings, disruption }];
  });
}

/** Set when the score of a Balanced pool is too low; names the first such pool. */
export function notWorthIt(view: ClusterView, candidates: readonly Candidate[], savingsPerHour: number): Blocked | undefined {
  const poor = scores(view, candidates, savingsPerHour).find(({ score }) => score < MIN_BALANCED_SCORE);
  return poor && { reason: "NotWorthIt", nodePool: poor.nodePool, score: poor.score };
}
