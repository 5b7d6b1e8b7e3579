import { expect, it } from "vitest";
import { allowance, budgetLimit, isActiveBudget, nextBudgetChange, poolBudgets, strictestBudget } from "#core/disruption/cluster/budget.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { Budget } from "#core/model/node-pool.ts";
import { NOW, nodePool, snapshot } from "../builders.ts";

it.for<{ name: string; budgets: Budget[]; total: number; want: number }>([
  { name: "percentages round up", budgets: [{ nodes: "10%" }], total: 11, want: 2 },
  { name: "exact percentages do not round", budgets: [{ nodes: "7%" }], total: 100, want: 7 },
  { name: "numbers count as they are", budgets: [{ nodes: "5" }], total: 2, want: 5 },
  { name: "the least of several budgets counts", budgets: [{ nodes: "5" }, { nodes: "1" }], total: 10, want: 1 },
  {
    name: "budgets of other reasons do not count",
    budgets: [{ nodes: "0", reasons: ["Drifted"] }],
    total: 10,
    want: Number.POSITIVE_INFINITY,
  },
  { name: "an empty list of reasons means all reasons", budgets: [{ nodes: "0", reasons: [] }], total: 10, want: 0 },
  { name: "an empty list of budgets is no limit", budgets: [], total: 10, want: Number.POSITIVE_INFINITY },
  {
    name: "an inactive budget is no limit",
    budgets: [{ nodes: "0", schedule: "0 0 * * *", duration: "1h" }],
    total: 10,
    want: Number.POSITIVE_INFINITY,
  },
  { name: "an active budget is a limit", budgets: [{ nodes: "0", schedule: "0 11 * * *", duration: "2h" }], total: 10, want: 0 },
  {
    name: "a schedule that does not parse allows nothing",
    budgets: [{ nodes: "50%", schedule: "0 25 * * *", duration: "1h" }],
    total: 10,
    want: 0,
  },
  { name: "a node count that does not parse allows nothing", budgets: [{ nodes: "half" }], total: 10, want: 0 },
])("$name", ({ budgets, total, want }) => {
  expect(budgetLimit(nodePool("p", { budgets }), "Empty", total, NOW)).toBe(want);
});

it("a NodePool without budgets has 10%", () => {
  const { disruption: _, ...spec } = nodePool().spec;
  expect(budgetLimit({ metadata: { name: "p" }, spec }, "Empty", 15, NOW)).toBe(2);
});

it("the strictest budget is the active one for the reason that allows least", () => {
  const drifted = { nodes: "0", reasons: ["Drifted" as const] };
  const unhealthy = { nodes: "1", reasons: ["Unhealthy" as const] };
  const [wide, narrow] = [{ nodes: "50%" }, { nodes: "2" }];
  const pool = nodePool("p", { budgets: [drifted, wide, narrow] });
  expect(strictestBudget(pool, "Empty", 10, NOW)).toEqual(narrow);
  expect(strictestBudget(pool, "Empty", 2, NOW)).toEqual(wide);
  expect(strictestBudget(pool, "Drifted", 10, NOW)).toEqual(drifted);
  expect(strictestBudget(nodePool("p", { budgets: [wide, unhealthy] }), "Unhealthy", 10, NOW)).toEqual(unhealthy);
  expect(strictestBudget(nodePool("p", { budgets: [drifted] }), "Empty", 10, NOW)).toBeUndefined();
});

it("a budget is active from a hit of its schedule until its duration has passed", () => {
  const budget = { nodes: "0", schedule: "0 9 * * *", duration: "1h30m" };
  const at = (time: string): boolean | undefined => isActiveBudget(budget, Date.parse(`2026-01-01T${time}Z`));
  expect([at("08:59:59"), at("09:00:00"), at("10:29:59"), at("10:30:00")]).toEqual([false, true, true, false]);
});

it("the next budget change is the next start or end of a window", () => {
  const pool = nodePool("p", { budgets: [{ nodes: "0", schedule: "0 9 * * *", duration: "1h" }] });
  const next = (time: string): string => new Date(nextBudgetChange(pool, Date.parse(time)) ?? 0).toISOString();
  expect(next("2026-01-01T08:00:00Z")).toBe("2026-01-01T09:00:00.000Z");
  expect(next("2026-01-01T09:30:00Z")).toBe("2026-01-01T10:00:00.000Z");
  expect(nextBudgetChange(nodePool(), NOW)).toBeUndefined();
});

it("a budget counts initialized nodes, and uses those that are not ready or are being removed", () => {
  const machines = [
    { name: "a" },
    { name: "b", ready: false },
    { name: "c", deletionTimestamp: "2026-01-01T11:59:00Z" },
    { name: "d", initialized: false },
    { name: "e", conditions: [{ type: "InstanceTerminating", status: "True" as const }] },
  ];
  const view = viewCluster({
    snapshot: snapshot({ pools: [nodePool("default", { budgets: [{ nodes: "100%" }] })], machines }),
    records: [],
    commands: [],
    now: NOW,
  });
  expect(poolBudgets(view, "Empty").get("default")).toEqual({ total: 3, disrupting: 2, limit: 3, allowed: 1 });
});

it("nodes of a command that is rolled back use the budget, because they still carry the taint", () => {
  const rolledBack: CommandRecord = {
    cluster: "c",
    id: "1",
    version: 1,
    method: "drift",
    reason: "Drifted",
    decision: "replace",
    candidates: [
      {
        nodeClaim: "a-claim",
        node: "a",
        nodePool: "default",
        instanceType: "large",
        capacityType: "spot",
        zone: "a",
        pricePerHour: 1,
        pods: [],
      },
    ],
    replacements: [],
    replacementClaims: [],
    savingsPerHour: 0,
    phase: "RollingBack",
    createdAt: NOW,
    since: NOW,
    dueAt: NOW,
  };
  const pools = [nodePool("default", { budgets: [{ nodes: "1" }] })];
  const scene = { snapshot: snapshot({ pools, machines: [{ name: "a" }, { name: "b" }] }), records: [], now: NOW };
  expect(poolBudgets(viewCluster({ ...scene, commands: [rolledBack] }), "Drifted").get("default")?.allowed).toBe(0);
  expect(poolBudgets(viewCluster({ ...scene, commands: [] }), "Drifted").get("default")?.allowed).toBe(1);
});

it("an allowance takes as many nodes as the budget allows", () => {
  const budget = allowance(new Map([["p", { total: 9, disrupting: 0, limit: 2, allowed: 2 }]]));
  expect([budget.take("p"), budget.take("p"), budget.take("p"), budget.take("unknown")]).toEqual([true, true, false, false]);
});
