import { poolBudgets, strictestBudget } from "../../disruption/cluster/budget.ts";
import { reasonOf } from "../../disruption/consolidation/decision.ts";
import type { DisruptionPlan } from "../../disruption/plan.ts";
import type { CommandRecord, DisruptionReason } from "../../model/command-record.ts";
import type { Budget, NodePool } from "../../model/node-pool.ts";
import { MIN_SAVINGS } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { carryOut } from "../what-if/carry-out.ts";

/** A budget that does not let a set of nodes be disrupted together. */
export interface BindingBudget {
  readonly nodePool: string;
  /** The entry of the NodePool's budgets; undefined where the manifest names none and 10 % is the default. */
  readonly budget: Budget | undefined;
  /** Nodes of the NodePool, and how many of them may be disrupted now. */
  readonly total: number;
  readonly allowed: number;
}

/** A saving that only the budgets hold back. */
export interface HeldBack {
  /** The nodes that would be removed together. */
  readonly nodes: readonly string[];
  readonly savesPerHour: number;
  readonly budgets: readonly BindingBudget[];
}

/** Passes without budgets: Emptiness, then drift, then consolidation. No benchmark has tuned it. */
const MAX_PASSES = 4;

/** The reasons of disruption for a saving. Drift keeps its budgets, because it saves nothing. */
const SAVING: readonly DisruptionReason[] = ["Empty", "Underutilized"];

/**
 * The savings that the budgets hold back, by NodeClaim: what a pass finds on the same cluster without budgets, where
 * it takes more nodes of a NodePool than its budget allows. `last` is the pass with budgets. Only an explanation asks
 * for it, because each further pass searches sets of nodes again.
 */
export function heldBack(
  snapshot: Snapshot,
  last: DisruptionPlan,
  decide: (snapshot: Snapshot) => DisruptionPlan,
): ReadonlyMap<string, HeldBack> {
  const found = new Map<string, HeldBack>();
  if (!SAVING.some((reason) => [...poolBudgets(last.view, reason).values()].some(({ allowed, total }) => allowed < total))) return found;
  // A command that is carried out forgets the conditions of the claims, and with them which nodes are still settling.
  const settling = new Set(last.blocked.flatMap((one) => (one.blocked.reason === "NotConsolidatable" ? [one.nodeClaim] : [])));
  let current: Snapshot = { ...snapshot, nodePools: snapshot.nodePools.map(withoutBudgets) };
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const { command } = decide(current);
    if (command === undefined) break;
    const { candidates, savingsPerHour: savesPerHour } = command;
    const budgets = candidates.some(({ nodeClaim }) => settling.has(nodeClaim)) ? [] : bindingBudgets(command, last);
    // A search with budgets may find another set that saves as much: then the budgets hold nothing back.
    const saved = last.command && consolidates(last.command) && consolidates(command) ? last.command.savingsPerHour : 0;
    if (budgets.length > 0 && savesPerHour >= saved + MIN_SAVINGS) {
      const nodes = candidates.map(({ node }) => node);
      for (const { nodeClaim } of candidates) found.set(nodeClaim, { nodes, savesPerHour, budgets });
    }
    if (consolidates(command)) break;
    current = carryOut(current, command);
  }
  return found;
}

/** Whether consolidation, and neither Emptiness nor drift, has decided on the command. */
export function consolidates({ method }: CommandRecord): boolean {
  return method === "multi" || method === "single";
}

function withoutBudgets(pool: NodePool): NodePool {
  const { disruption } = pool.spec;
  const budgets = (disruption?.budgets ?? []).filter(({ reasons = [] }) => reasons.length === 0 || reasons.includes("Drifted"));
  const ofDrift = budgets.map((budget) => ({ ...budget, reasons: ["Drifted" as const] }));
  return { ...pool, spec: { ...pool.spec, disruption: { ...disruption, budgets: ofDrift } } };
}

function bindingBudgets({ method, candidates }: CommandRecord, { view }: DisruptionPlan): readonly BindingBudget[] {
  if (method === "drift" || method === "expiration") return [];
  const reason = reasonOf(method);
  const budgets = poolBudgets(view, reason);
  return [...Map.groupBy(candidates, ({ nodePool }) => nodePool)].flatMap(([name, { length }]) => {
    const [pool, known] = [view.nodePools.get(name), budgets.get(name)];
    if (!pool || !known || length <= known.allowed) return [];
    const { total, allowed } = known;
    const budget = pool.spec.disruption?.budgets ? strictestBudget(pool, reason, total, view.now) : undefined;
    return [{ nodePool: name, budget, total, allowed }];
  });
}
