import { nextHit, parseCron } from "../../lib/cron.ts";
import { parseDuration } from "../../lib/duration.ts";
import type { DisruptionReason } from "../../model/command-record.ts";
import { isTrue } from "../../model/conditions.ts";
import { NODE_POOL } from "../../model/labels.ts";
import type { Budget, NodePool } from "../../model/node-pool.ts";
import type { ClusterView } from "./view.ts";

const DEFAULT_BUDGETS: readonly Budget[] = [{ nodes: "10%" }];

/** The pool's budgets; 10 % at any time where the manifest names none, [] where it names an empty list. */
export function budgetsOf(pool: NodePool): readonly Budget[] {
  return pool.spec.disruption?.budgets ?? DEFAULT_BUDGETS;
}

/**
 * Whether the budget is active at `now` (ms): from a hit of its schedule until its duration has passed, always without
 * a schedule. Undefined when schedule or duration do not parse (karpenter: pkg/apis/v1/nodepool.go, Budget.IsActive).
 */
export function isActiveBudget({ schedule, duration }: Budget, now: number): boolean | undefined {
  if (schedule == null && duration == null) return true;
  const cron = parseCron(schedule ?? "");
  const length = parseDuration(duration ?? "");
  if (!cron || length === undefined) return undefined;
  const hit = nextHit(cron, now - length);
  return hit !== undefined && hit <= now;
}

/**
 * Nodes that a budget allows to disrupt at once, out of `total`; percentages round up. Undefined when it does not
 * parse.
 */
function nodesOf({ nodes }: Budget, total: number): number | undefined {
  const match = /^(\d+)(%?)$/.exec(nodes);
  if (!match) return undefined;
  const value = Number(match[1]);
  // Multiply before dividing, because 7 / 100 × 100 is more than 7 in floating point.
  return match[2] === "%" ? Math.ceil((total * value) / 100) : value;
}

/**
 * How many nodes of a pool may be disrupted at once for a reason: the least of its active budgets for that reason.
 * Infinity without one, 0 when any budget does not parse
 * (karpenter: pkg/apis/v1/nodepool.go, NodePool.MustGetAllowedDisruptions).
 */
export function budgetLimit(pool: NodePool, reason: DisruptionReason, total: number, now: number): number {
  let limit = Number.POSITIVE_INFINITY;
  for (const budget of budgetsOf(pool)) {
    const active = isActiveBudget(budget, now);
    const nodes = nodesOf(budget, total);
    if (active === undefined || nodes === undefined) return 0;
    const applies = (budget.reasons ?? []).length === 0 || budget.reasons?.some((one) => one === reason);
    if (active && applies) limit = Math.min(limit, nodes);
  }
  return limit;
}

/** The first budget of the pool that by itself gives `budgetLimit`; undefined where nothing limits the reason. */
export function strictestBudget(pool: NodePool, reason: DisruptionReason, total: number, now: number): Budget | undefined {
  const limit = budgetLimit(pool, reason, total, now);
  if (limit === Number.POSITIVE_INFINITY) return undefined;
  return budgetsOf(pool).find((budget) => {
    const alone = { ...pool, spec: { ...pool.spec, disruption: { ...pool.spec.disruption, budgets: [budget] } } };
    return budgetLimit(alone, reason, total, now) === limit;
  });
}

/** When (ms) the next budget of the pool becomes active or inactive; undefined without schedules. */
export function nextBudgetChange(pool: NodePool, now: number): number | undefined {
  const times: number[] = [];
  for (const { schedule, duration } of budgetsOf(pool)) {
    const cron = parseCron(schedule ?? "");
    const length = parseDuration(duration ?? "");
    if (!cron || length === undefined) continue;
    const opens = nextHit(cron, now);
    const opened = nextHit(cron, now - length);
    if (opens !== undefined) times.push(opens);
    if (opened !== undefined && opened <= now) times.push(opened + length);
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/**
 * The disruption budget of a NodePool for one reason. A method takes nodes from it through `allowance`.
 *
 *     budgets: [{ nodes: "20%" }], 10 nodes of which 1 is not ready
 *     -> { total: 10, disrupting: 1, limit: 2, allowed: 1 }
 */
export interface PoolBudget {
  /** Initialized nodes of the pool, without those whose instance is being terminated. */
  readonly total: number;
  /** How many of `total` are being removed or, but for the reason Unhealthy, are not ready; they use the budget. */
  readonly disrupting: number;
  /** What the active budgets allow at once; Infinity without a limit. */
  readonly limit: number;
  /** `limit` less `disrupting`, at least 0. */
  readonly allowed: number;
}

/**
 * Budgets of all NodePools for a reason, by pool name
 * (karpenter: pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping).
 */
export function poolBudgets(view: ClusterView, reason: DisruptionReason): ReadonlyMap<string, PoolBudget> {
  const totals = new Map<string, number>();
  const disrupting = new Map<string, number>();
  const add = (counts: Map<string, number>, pool: string): void => void counts.set(pool, (counts.get(pool) ?? 0) + 1);
  for (const machine of view.machines.values()) {
    const pool = machine.labels[NODE_POOL];
    const { conditions } = machine.claim.status ?? {};
    // A reboot makes a node uninitialized, which is under way all the same.
    const isRebooting = isTrue(conditions, "Rebooting");
    if (pool === undefined || !(machine.initialized || isRebooting) || isTrue(conditions, "InstanceTerminating")) continue;
    add(totals, pool);
    // A command that is being rolled back counts too: its nodes still carry the disrupted taint.
    const isLeaving = isRebooting || machine.markedForDeletion || view.inCommand.has(machine.claim.metadata.name);
    // Nodes that wait for repair must not use its budget up.
    const isDown = reason !== "Unhealthy" && !isTrue(machine.node?.status?.conditions, "Ready");
    if (isLeaving || isDown) add(disrupting, pool);
  }
  const budgets = new Map<string, PoolBudget>();
  for (const [name, pool] of view.nodePools) {
    const total = totals.get(name) ?? 0;
    const limit = budgetLimit(pool, reason, total, view.now);
    const leaving = disrupting.get(name) ?? 0;
    budgets.set(name, { total, disrupting: leaving, limit, allowed: Math.max(0, limit - leaving) });
  }
  return budgets;
}

/** Counts the nodes that a method chooses against the budgets of their pools. */
interface Allowance {
  /** Takes one node from the pool's budget; returns false and takes none when the budget is spent. */
  take(pool: string): boolean;
  /** How many nodes of the pool the budget still allows. */
  left(pool: string): number;
}

/** A new account of the budgets for one method's choice. A pool that is not in `budgets` allows no node. */
export function allowance(budgets: ReadonlyMap<string, PoolBudget>): Allowance {
  const taken = new Map<string, number>();
  const left = (pool: string): number => (budgets.get(pool)?.allowed ?? 0) - (taken.get(pool) ?? 0);
  return {
    left,
    take(pool) {
      if (left(pool) <= 0) return false;
      taken.set(pool, (taken.get(pool) ?? 0) + 1);
      return true;
    },
  };
}
