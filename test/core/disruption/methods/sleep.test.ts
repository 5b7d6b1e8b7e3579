import { expect, it } from "vitest";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { validate } from "#core/disruption/command/validate.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import { SCHEDULE } from "#core/model/labels.ts";
import type { Budget, NodePool } from "#core/model/node-pool.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { NOW, nodePool, pdb, pod, type Scene, snapshot } from "../builders.ts";

/** The scene is at noon. */
const AT_NOON = "0 11 * * * for 3h";
const AT_NIGHT = "0 20 * * * for 10h";
const HOUR = 3_600_000;

function scheduled(name: string, schedule: string | undefined, budgets: readonly Budget[] = [{ nodes: "100%" }]): NodePool {
  const pool = nodePool(name, { budgets });
  return schedule === undefined ? pool : { ...pool, metadata: { ...pool.metadata, annotations: { [SCHEDULE]: schedule } } };
}
const plan = (scene: Scene) =>
  planDisruption({
    ...{ snapshot: snapshot(scene), records: [], commands: [], settings: { cluster: "c" }, now: NOW },
    ...{ ...WITH_SOLVE, newId: () => "id" },
  });
const nodesOf = ({ command }: ReturnType<typeof plan>) => command?.candidates.map(({ node }) => node).toSorted();
const machines = ["a", "b", "c"].map((name) => ({ name }));
const pods = ["a", "b", "c"].map((name) => pod(`p-${name}`, name));
const asleep = (...budgets: readonly Budget[]): Scene => ({ pools: [scheduled("default", AT_NOON, budgets)], machines, pods });

it.for([
  { name: "all of its nodes where the budget allows all", scene: asleep({ nodes: "100%" }), want: ["a", "b", "c"] },
  { name: "so many as a budget allows", scene: asleep({ nodes: "2" }), want: ["a", "b"] },
  { name: "no node where a budget allows none", scene: asleep({ nodes: "0" }), want: undefined },
  {
    name: "all where budgets are of other reasons",
    scene: asleep({ nodes: "0", reasons: ["Empty", "Underutilized", "Drifted"] }),
    want: ["a", "b", "c"],
  },
  {
    name: "no node whose pods a PodDisruptionBudget holds",
    scene: { ...asleep({ nodes: "100%" }), pdbs: [pdb("none")] },
    want: undefined,
  },
  {
    name: "nor one with a terminationGracePeriod, which would let drift take it",
    scene: {
      ...asleep({ nodes: "100%" }),
      machines: machines.map((one) => ({ ...one, terminationGracePeriod: "1h" })),
      pdbs: [pdb("none")],
    },
    want: undefined,
  },
  {
    name: "only nodes without a pod that may not be disrupted",
    scene: {
      ...asleep({ nodes: "100%" }),
      pods: [pod("p-a", "a", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } }), ...pods.slice(1)],
    },
    want: ["b", "c"],
  },
])("a NodePool that sleeps loses $name", ({ scene, want }) => {
  const decided = plan(scene);
  expect(nodesOf(decided)).toEqual(want);
  if (want !== undefined)
    expect(decided.command).toMatchObject({ method: "sleep", reason: "Asleep", decision: "delete", replacements: [], dueAt: NOW });
});

it("a NodePool that is awake loses nothing by its schedule, and a pass asks for the next one at its evening", () => {
  const pools = [scheduled("default", AT_NIGHT, [{ nodes: "0" }])];
  const { command, nextDueAt } = plan({ pools, machines: [{ name: "a" }], pods: [pod("p", "a")] });
  expect(command).toBeUndefined();
  expect(nextDueAt).toBe(NOW + 8 * HOUR);
});

it("nodes that stay although their NodePool sleeps say what holds them, and a pass asks for the next one at its morning", () => {
  const decided = plan(asleep({ nodes: "0" }));
  expect(decided.blocked.map(({ message }) => message)).toEqual(
    Array.from({ length: 3 }, () => "No allowed disruptions for disruption reason Asleep due to blocking budget (NodePool=default)"),
  );
  expect(decided.nextDueAt).toBe(NOW + 2 * HOUR - 5 * 60_000);
  const { gauges } = reportOf(decided);
  expect(gauges).toContainEqual({ metric: "voluntary_disruption_eligible_nodes", labels: { reason: "asleep" }, value: 3 });
});

it("a cluster without a schedule has no metrics of sleep", () => {
  const decided = plan({ machines, pods });
  expect(decided.passes.map(({ method }) => method)).not.toContain("sleep");
});

it("no pod is moved to a node of a NodePool that sleeps", () => {
  // Without the schedule, the pod of the expensive node moves to the other one.
  const scene = (schedule: string | undefined): Scene => ({
    pools: [scheduled("day", undefined), scheduled("night", schedule, [{ nodes: "0" }])],
    machines: [
      { name: "a", pool: "day", type: "huge" },
      { name: "b", pool: "night", type: "small" },
    ],
    pods: [pod("p-a", "a"), pod("p-b", "b")],
  });
  expect(plan(scene(undefined)).command?.replacements).toEqual([]);
  expect(plan(scene(AT_NOON)).command?.replacements).toHaveLength(1);
});

it("a command holds for the nodes whose NodePool still sleeps when it is checked", () => {
  const { command } = plan(asleep({ nodes: "100%" }));
  if (command === undefined) throw new Error("nodes must go");
  const checked = (scene: Scene, now = NOW) =>
    validate(command, viewCluster({ snapshot: { ...snapshot(scene), now }, records: [], commands: [], now }), simulateWithSolve);
  expect(checked(asleep({ nodes: "100%" }))).toMatchObject({ holds: true, candidates: { length: 3 } });
  expect(checked(asleep({ nodes: "1" }))).toMatchObject({ holds: true, candidates: { length: 1 } });
  expect(checked(asleep({ nodes: "100%" }), NOW + 2 * HOUR)).toEqual({ holds: false, why: "churn" });
});

it("drift replaces no node of a NodePool that sleeps", () => {
  const drifted = [{ name: "a", drifted: "2025-12-31T00:00:00Z" }];
  const scene = (schedule: string): Scene => ({ pools: [scheduled("default", schedule)], machines: drifted, pods: [pod("p", "a")] });
  expect(plan(scene(AT_NIGHT)).command).toMatchObject({ method: "drift" });
  expect(plan(scene(AT_NOON)).command).toMatchObject({ method: "sleep" });
});
