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

/** Whether the budget's window is open: from a hit of its schedule until its duration is over. Undefined when it does not parse. */
export function isActiveBudget({ schedule, duration }: Budget, now: number): boolean | undefined {
  if (schedule == null && duration == null) return true;
  const cron = parseCron(schedule ?? "");
  const length = parseDuration(duration ?? "");
  if (!cron || length === undefined) return undefined;
  const hit = nextHit(cron, now - length);
  return hit !== undefined && hit <= now;
}

/** Nodes that a budget lets go at once, out of `total`; percentages round up. Undefined when it does not parse. */
function nodesOf({ nodes }: Budget, total: number): number | undefined {
  const match = /^(\d+)(%?)$/.exec(nodes);
  if (!match) return undefined;
  const value = Number(match[1]);
  // The product first: 7 / 100 × 100 is more than 7 in floating point.
  return match[2] === "%" ? Math.ceil((total * value) / 100) : value;
}

/** Most nodes of a pool that may be disrupted at once for a reason; Infinity without an active budget, 0 when one does not parse. */
export function budgetLimit(pool: NodePool, reason: DisruptionReason, total: number, now: number): number {
  let limit = Number.POSITIVE_INFINITY;
  for (const budget of budgetsOf(pool)) {
    const active = isActiveBudget(budget, now);
    const nodes = nodesOf(budget, total);
    if (active === undefined || nodes === undefined) return 0;
    const applies = (budget.reasons ?? []).length === 0 || budget.reasons?.includes(reason);
    if (active && applies) limit = Math.min(limit, nodes);
  }
  return limit;
}

/** The next time (ms) at which a window of the pool opens or closes; undefined without schedules. */
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

/** A pool's budget for one reason. */
export interface PoolBudget {
  /** Initialized nodes of the pool, those whose instance is going left out. */
  readonly total: number;
  /** Of them, not ready or on their way out. */
  readonly disrupting: number;
  /** What the budgets say; Infinity without a limit. */
  readonly limit: number;
  /** What is left of it. */
  readonly allowed: number;
}

/** Budgets of all pools for a reason, by pool name (disruption.md §3). */
export function poolBudgets(view: ClusterView, reason: DisruptionReason): ReadonlyMap<string, PoolBudget> {
  const totals = new Map<string, number>();
  const disrupting = new Map<string, number>();
  const add = (counts: Map<string, number>, pool: string): void => void counts.set(pool, (counts.get(pool) ?? 0) + 1);
  for (const machine of view.machines.values()) {
    const pool = machine.labels[NODE_POOL];
    if (pool === undefined || !machine.initialized || isTrue(machine.claim.status?.conditions, "InstanceTerminating")) continue;
    add(totals, pool);
    // A command that is being rolled back has its nodes under the taint still, though they are not going any more.
    const going = machine.markedForDeletion || view.inCommand.has(machine.claim.metadata.name);
    if (going || !isTrue(machine.node?.status?.conditions, "Ready")) add(disrupting, pool);
  }
  const budgets = new Map<string, PoolBudget>();
  for (const [name, pool] of view.nodePools) {
    const total = totals.get(name) ?? 0;
    const limit = budgetLimit(pool, reason, total, view.now);
    const going = disrupting.get(name) ?? 0;
    budgets.set(name, { total, disrupting: going, limit, allowed: Math.max(0, limit - going) });
  }
  return budgets;
}

/** Counts nodes against their pools' budgets. */
export interface Allowance {
  /** Takes one node from its pool's budget; false, and takes nothing, when none is left. */
  take(pool: string): boolean;
  left(pool: string): number;
}

/** What the budgets still let go while one method chooses; each call makes a new account. A pool without a budget lets nothing go. */
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
