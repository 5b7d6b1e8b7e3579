import type { DisruptionReason } from "../../model/command-record.ts";
import type { MetricName } from "../../ports/metric-registry.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";

/** One value of a metric, as the caller publishes it. */
interface MetricValue<T extends "counter" | "gauge" | "histogram"> {
  readonly metric: MetricName<T>;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Gauge = MetricValue<"gauge">;
/** What is added to a counter. */
export type Count = MetricValue<"counter">;
/** One observation of a histogram. */
export type Observation = MetricValue<"histogram">;

/** MaxInt32: what Karpenter reports for a pool without a limiting budget. */
const UNLIMITED = 2 ** 31 - 1;

/** How many nodes the methods of one reason could take, before budgets. Label value in lower case, as in Karpenter. */
export function eligibleGauge(reason: DisruptionReason, count: number): Gauge {
  return { metric: "voluntary_disruption_eligible_nodes", labels: { reason: reason.toLowerCase() }, value: count };
}

/** What the budgets of each NodePool allow in all, and how many nodes use them. */
export function budgetGauges(reason: DisruptionReason, budgets: ReadonlyMap<string, PoolBudget>): readonly Gauge[] {
  return [...budgets].flatMap(([nodepool, { limit, disrupting }]) => [
    { metric: "nodepools_allowed_disruptions", labels: { nodepool, reason }, value: Math.min(limit, UNLIMITED) },
    { metric: "nodepools_nodes_consuming_budgets", labels: { nodepool, reason }, value: disrupting },
  ]);
}

/** How many nodes are blocked, by reason. This metric is ours: Karpenter reports blocked nodes by events alone. */
export function blockedGauges(blocked: readonly BlockedNode[]): readonly Gauge[] {
  return [...Map.groupBy(blocked, ({ blocked: why }) => why.reason)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, nodes]) => ({ metric: "voluntary_disruption_blocked_nodes", labels: { reason }, value: nodes.length }));
}
