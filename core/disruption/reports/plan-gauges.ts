import type { DisruptionReason } from "../../model/command-record.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";

export interface Gauge {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What Karpenter reports where no budget limits a pool. */
const UNLIMITED = 2 ** 31 - 1;

/** How many nodes one reason could take, before budgets. Label values in lower case, as Karpenter writes them. */
export function eligibleGauge(reason: DisruptionReason, count: number): Gauge {
  return { metric: "voluntary_disruption_eligible_nodes", labels: { reason: reason.toLowerCase() }, value: count };
}

/** What the budgets allow before anything under way is counted, and what uses them. */
export function budgetGauges(reason: DisruptionReason, budgets: ReadonlyMap<string, PoolBudget>): readonly Gauge[] {
  return [...budgets].flatMap(([nodepool, { limit, disrupting }]) => [
    { metric: "nodepools_allowed_disruptions", labels: { nodepool, reason }, value: Math.min(limit, UNLIMITED) },
    { metric: "nodepools_nodes_consuming_budgets", labels: { nodepool, reason }, value: disrupting },
  ]);
}

/** How many nodes stay for which reason. Ours: Karpenter tells it by events alone. */
export function blockedGauges(blocked: readonly BlockedNode[]): readonly Gauge[] {
  return [...Map.groupBy(blocked, ({ blocked: why }) => why.reason)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, nodes]) => ({ metric: "voluntary_disruption_blocked_nodes", labels: { reason }, value: nodes.length }));
}
