import { budgetsOf, nextBudgetChange, poolBudgets, strictestBudget } from "../../disruption/cluster/budget.ts";
import type { ClusterView } from "../../disruption/cluster/view.ts";
import { SCHEDULE } from "../../model/labels.ts";
import type { NodePool, Budget as WrittenBudget } from "../../model/node-pool.ts";
import { addResources, parseResources } from "../../model/quantity.ts";
import { maxPricePerHour } from "../../node-pool/max-price.ts";
import { unusablePool } from "../../scheduling/reasons/unusable-pool.ts";
import { type NodeCosts, sumOfCosts } from "./costs.ts";
import { units } from "./rooms.ts";
import type { Budget, NodeOverview, PoolOverview } from "./types.ts";

const REASONS: readonly Budget["reason"][] = ["Empty", "Underutilized", "Drifted", "Unhealthy", "Asleep"];

/** Resources whose usage is shown where a pool limits nothing. */
const SHOWN = ["cpu", "memory"];

/** The NodePools by name, with their nodes' usage, cost and budgets. */
export function poolOverviews(
  view: ClusterView,
  nodes: readonly NodeOverview[],
  costs: ReadonlyMap<string, readonly NodeCosts[]>,
): readonly PoolOverview[] {
  const { snapshot } = view;
  const budgets = new Map(REASONS.map((reason) => [reason, poolBudgets(view, reason)]));
  const nodesByPool = Map.groupBy(nodes, ({ nodePool }) => nodePool);
  const machinesByPool = Map.groupBy(view.machines.values(), ({ nodePool }) => nodePool ?? "");
  const overview = (pool: NodePool): PoolOverview => {
    const { name } = pool.metadata;
    const own = nodesByPool.get(name) ?? [];
    const types = snapshot.instanceTypes.get(name) ?? [];
    const used = addResources(...(machinesByPool.get(name) ?? []).map(({ capacity }) => capacity));
    const limits = parseResources(pool.spec.limits);
    const names = [...new Set([...SHOWN, ...Object.keys(limits)])].filter((one) => one !== "nodes");
    const { disruption, replicas, weight = 1 } = pool.spec;
    const cap = maxPricePerHour(pool);
    const problem = poolProblem(pool, types.length > 0, view.now);
    return {
      ...{ name, weight, nodes: own.length, cost: sumOfCosts(costs.get(name) ?? []), instanceTypes: types.length },
      ...(problem !== undefined && { problem }),
      ...(replicas != null && { replicas }),
      usage: [
        ...names.map((one) => ({ name: one, used: units(used, one), limit: Object.hasOwn(limits, one) ? units(limits, one) : null })),
        ...(cap === undefined ? [] : [{ name: "$ an hour", used: sumOfCosts(costs.get(name) ?? []).perHour, limit: cap }]),
        ...(Object.hasOwn(limits, "nodes") ? [{ name: "nodes", used: own.length, limit: units(limits, "nodes") }] : []),
      ],
      consolidationPolicy: disruption?.consolidationPolicy ?? "WhenEmptyOrUnderutilized",
      consolidateAfter: disruption?.consolidateAfter ?? "0s",
      budgets: REASONS.filter((reason) => isShown(reason, pool)).map((reason): Budget => {
        const { total = 0, disrupting = 0, limit = 0, allowed = 0 } = budgets.get(reason)?.get(name) ?? {};
        const changesAt = nextBudgetChange(pool, view.now);
        const finite = (n: number): number | null => (Number.isFinite(n) ? n : null);
        const decisive = strictestBudget(pool, reason, total, view.now);
        return {
          ...{ reason, total, disrupting, limit: finite(limit), allowed: finite(allowed) },
          text: decisive === undefined ? "no budget limits it now" : budgetText(decisive, pool),
          ...(changesAt !== undefined && { changesAt }),
        };
      }),
    };
  };
  return snapshot.nodePools.map(overview).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the pool has, or may have, disruptions of the reason. */
function isShown(reason: Budget["reason"], { metadata, spec }: NodePool): boolean {
  if (reason === "Asleep") return metadata.annotations?.[SCHEDULE] !== undefined;
  return reason !== "Unhealthy" || (spec.disruption?.budgets ?? []).some(({ reasons = [] }) => reasons.includes(reason));
}

/** Why no node is made from a pool. That a static pool adds none for pods is no problem. */
function poolProblem(pool: NodePool, hasTypes: boolean, now: number): string | undefined {
  const { replicas: _, ...spec } = pool.spec;
  return (
    unusablePool({ ...pool, spec }, hasTypes, now) ??
    (hasTypes ? undefined : "has no instance types: its EC2NodeClass is not known or not ready")
  );
}

/** "10%", "2 (schedule 0 9 * * 1-5, duration 8h)"; "10% (the default)" where the manifest names none. */
function budgetText({ nodes, schedule, duration }: WrittenBudget, pool: NodePool): string {
  const when = [...(schedule ? [`schedule ${schedule}`] : []), ...(duration ? [`duration ${duration}`] : [])];
  const isDefault = pool.spec.disruption?.budgets === undefined && budgetsOf(pool).length === 1;
  const more = isDefault ? ["the default"] : when;
  return `${nodes}${more.length > 0 ? ` (${more.join(", ")})` : ""}`;
}
