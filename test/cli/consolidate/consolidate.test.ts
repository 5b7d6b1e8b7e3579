import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { consolidate } from "#cli/consolidate/consolidate.ts";
import { explainConsolidation } from "#cli/consolidate/explain.ts";
import { InputError } from "#terminal/input-error.ts";
import { instanceType, nodePool, pod, snapshot } from "../../core/disruption/builders.ts";
import { buffer, podTemplate } from "../../support/buffers.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A scenario file; the builders' snapshot already has its lists. */
function scenarioFile(scene: Parameters<typeof snapshot>[0], types = ["small", "large"], more: object = {}): string {
  const file = join(temporaryFolder("consolidate"), "scenario.json");
  const { instanceTypes: _, ...lists } = snapshot(scene);
  const instanceTypes = types.map((name) => instanceType(name));
  writeFileSync(file, JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", ...more, instanceTypes }));
  return file;
}

it("the plan of a scenario holds its disruption command", () => {
  const file = scenarioFile({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "b")] });
  expect(consolidate(file)).toEqual({
    commands: [{ method: "emptiness", candidates: ["a"], replacements: [], decision: "delete", savings: 0.4, podsMoved: 0 }],
  });
});

it("two half-empty nodes become one, with pods placed by the real scheduler", () => {
  const file = scenarioFile({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
  const { commands } = consolidate(file);
  expect(commands[0]).toMatchObject({ method: "multi", decision: "replace", candidates: ["a", "b"] });
  expect(commands[0]?.savings).toBeCloseTo(0.8 - 0.1 * 0.4);
  expect(commands[0]?.podsMoved).toBe(2);
  expect(commands[0]?.replacements[0]?.pods).toEqual(["default/p", "default/q"]);
});

it("NodeOverlays of the scenario set prices, and those without effect are named", () => {
  const priced = (name: string, price: string, type: string) => ({
    metadata: { name },
    spec: { price, requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: [type] }] },
  });
  const scene = { machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] };
  const nodeOverlays = [priced("free", "0", "small"), priced("slip", "0", "smal")];
  const plan = consolidate(scenarioFile(scene, ["small", "large"], { nodeOverlays }), { explain: true });
  expect(plan.commands[0]?.savings).toBeCloseTo(0.8);
  expect(explainConsolidation(plan)).toContain("NodeOverlay slip has no effect");
});

it("the room of CapacityBuffers in the scenario is kept", () => {
  const scene = { pools: [nodePool("default", { consolidationPolicy: "WhenEmpty" })], machines: [{ name: "a" }, { name: "b" }] };
  const more = { capacityBuffers: [buffer()], podTemplates: [podTemplate()] };
  const plan = consolidate(scenarioFile(scene, ["small", "large"], more), { explain: true });
  expect(plan.commands).toMatchObject([{ method: "emptiness", candidates: ["b"] }]);
  expect(plan.stays).toMatchObject([{ node: "a", reason: 'Node "a" has buffer pods' }]);
});

it("with explain the plan says why nodes stay", () => {
  const file = scenarioFile({
    pools: [nodePool("default", { consolidateAfter: "Never" })],
    machines: [{ name: "a" }],
    pods: [pod("p", "a")],
  });
  const reason = 'NodePool "default" has consolidation disabled';
  expect(consolidate(file, { explain: true })).toEqual({
    commands: [],
    stays: [{ node: "a", nodeClaim: "a-claim", reason }],
    tried: [],
    nodes: [
      {
        ...{ name: "a", instanceType: "large", capacityType: "on-demand", pricePerHour: 0.4, pods: 1, verdict: "stays", reason, sets: 0 },
        remedy: "consolidateAfter of NodePool default set to a time",
        use: [
          { name: "cpu", share: 0.25 },
          { name: "pods", share: 0.02 },
        ],
      },
    ],
  });
  expect(explainConsolidation(consolidate(file, { explain: true }))).toContain(`${reason}\n    cpu ███░░░░░░░ 25%\n`);
});

it("the text names removed nodes, their replacements, and nodes that stay", () => {
  const machines = [{ name: "a" }, { name: "b" }, { name: "c", pool: "gone", taints: [{ key: "mine", effect: "NoSchedule" as const }] }];
  const plan = consolidate(scenarioFile({ machines, pods: [pod("p", "a"), pod("q", "b")] }), { explain: true });
  const text = explainConsolidation(plan);
  expect(text).toContain(
    "multi: replace 2 nodes (a and b), saving $0.7600/h, moves 2 pods\n  in their place: spot small, large in default, for 2 pods\n",
  );
  expect(text).toMatch(/^ {2}a \(large on-demand, \$0\.4000\/h, 1 pod\) goes: multi$/m);
  expect(text).toContain("c (large on-demand, 0 pods) stays: NodePool not found (NodePool=gone)");
  expect(explainConsolidation({ commands: [] })).toBe("nothing to disrupt\n");
});

it("each of several replacements is named with its capacity type and cheapest types", () => {
  const claim = (values: readonly string[], instanceTypes: readonly string[]) => ({
    ...{ nodePool: "default", taints: [], requests: {}, pods: ["default/p"], instanceTypes },
    requirements: [{ key: "karpenter.sh/capacity-type", operator: "In" as const, values }],
  });
  const replacements = [claim(["spot"], ["t1", "t2", "t3", "t4"]), claim(["on-demand"], ["t9"])];
  const text = explainConsolidation({
    commands: [{ method: "multi", decision: "replace", candidates: ["a", "b"], savings: 0.5, replacements }],
  });
  expect(text).toContain("in their place: spot t1, t2, t3 or any of 1 more type in default, for 1 pod\n");
  expect(text).toContain("in their place: on-demand t9 in default, for 1 pod\n");
});

it("each node lists the sets that were tried with it, and their savings", () => {
  const big = (name: string, node: string) =>
    pod(name, node, { spec: { nodeName: node, containers: [{ name: "c", resources: { requests: { cpu: "3" } } }] } });
  const machines = [
    { name: "a", type: "small" },
    { name: "b", type: "huge" },
  ];
  const { nodes = [] } = consolidate(scenarioFile({ machines, pods: [big("p", "a"), big("q", "b")] }, ["small", "huge"]), {
    explain: true,
  });
  const [a, b] = nodes;
  expect(b).toMatchObject({ name: "b", verdict: "goes", pricePerHour: 0.8 });
  const attempts = [b?.alone, b?.best].filter((attempt) => attempt?.chosen);
  expect(attempts).toHaveLength(1);
  expect(attempts[0]).toMatchObject({ with: ["a"], replacements: ["small", "small"], savesPerHour: expect.closeTo(0.82) });
  expect(a?.sets).toBeGreaterThan(0);
});

const pair = (pool: ReturnType<typeof nodePool>) => ({
  pools: [pool],
  machines: [
    { name: "n0", type: "small" },
    { name: "n1", type: "small" },
  ],
  pods: ["n0", "n1"].map((node) =>
    pod(`p-${node}`, node, { spec: { nodeName: node, containers: [{ name: "c", resources: { requests: { cpu: "1900m" } } }] } }),
  ),
});

it("a saving that a budget holds back is named with its NodePool, its budget and what the set would save", () => {
  const prices = ["small", "small-spot"];
  const budgets = [{ nodes: "100%" }, { nodes: "50%", reasons: ["Underutilized" as const] }, { nodes: "0", reasons: ["Drifted" as const] }];
  const scene = pair(nodePool("default", { budgets }));
  const free = consolidate(scenarioFile(pair(nodePool()), prices), { explain: true });
  expect(free.commands).toMatchObject([{ candidates: ["n0", "n1"] }]);
  expect(free.nodes?.some(({ heldBack }) => heldBack)).toBe(false);
  const saves = free.commands[0]?.savings ?? 0;

  const plan = consolidate(scenarioFile(scene, prices), { explain: true });
  const left = plan.nodes?.filter(({ verdict }) => verdict !== "goes") ?? [];
  expect(left.length).toBeGreaterThan(0);
  const budget = { nodePool: "default", budget: budgets[1], total: 2, allowed: 1 };
  for (const { heldBack } of left) expect(heldBack).toEqual({ nodes: ["n0", "n1"], savesPerHour: saves, budgets: [budget] });
  const name = left[0]?.name;
  const other = name === "n0" ? "n1" : "n0";
  expect(explainConsolidation(plan).replaceAll(/\s+/g, " ")).toContain(
    `stays: ${name} and ${other} together would save $${saves.toFixed(4)}/h, but NodePool default's budget {nodes: 50%, reasons: Underutilized} lets 1 of its 2 nodes be disrupted now`,
  );
});

it("a set over two NodePools is held back by the one whose budget it exceeds", () => {
  const { machines, pods, pools } = pair(nodePool());
  const none = nodePool("none", { budgets: [{ nodes: "0" }] });
  const scene = { pools: [...pools, none], machines: machines.map((one, i) => (i === 0 ? one : { ...one, pool: "none" })), pods };
  const { nodes = [] } = consolidate(scenarioFile(scene, ["small", "small-spot"]), { explain: true });
  const left = nodes.filter(({ verdict }) => verdict !== "goes");
  expect(left.map(({ name }) => name)).toContain("n1");
  for (const { heldBack } of left) expect(heldBack?.budgets).toMatchObject([{ nodePool: "none", total: 1, allowed: 0 }]);
});

it("the default budget is named as such", () => {
  const pool = nodePool();
  const { nodes } = consolidate(
    scenarioFile(pair({ ...pool, spec: { ...pool.spec, disruption: { consolidateAfter: "0s" } } }), ["small", "small-spot"]),
    { explain: true },
  );
  const text = explainConsolidation({ commands: [], ...(nodes && { nodes }) }).replaceAll(/\s+/g, " ");
  expect(text).toContain("but NodePool default's default budget {nodes: 10%} lets 1 of its 2 nodes be disrupted now");
});

it("an empty node that a budget holds back is named with what its removal would save", () => {
  const pools = [nodePool("default", { budgets: [{ nodes: "0" }] })];
  const plan = consolidate(scenarioFile({ pools, machines: [{ name: "a" }] }), { explain: true });
  expect(explainConsolidation(plan).replaceAll(/\s+/g, " ")).toContain(
    "a (large on-demand, $0.4000/h, 0 pods) stays: removing a would save $0.4000/h, but NodePool default's budget {nodes: 0} lets 0 of its 1 node be disrupted now",
  );
});

it("consolidation is explained although empty nodes take up the first pass", () => {
  const machines = [{ name: "a" }, { name: "b" }, { name: "c" }, { name: "d", annotations: { "karpenter.sh/do-not-disrupt": "true" } }];
  const plan = consolidate(scenarioFile({ machines, pods: [pod("p", "a"), pod("q", "b")] }), { explain: true });
  expect(plan.commands).toMatchObject([{ method: "emptiness", candidates: ["c"] }]);
  expect(plan.nodes?.map(({ name, verdict, reason }) => [name, verdict, reason])).toEqual([
    ["a", "next", "multi"],
    ["b", "next", "multi"],
    ["c", "goes", "emptiness"],
    ["d", "stays", 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation'],
  ]);
});

it("a file that cannot be read is an InputError", () => {
  expect(() => consolidate("/nowhere/scenario.json")).toThrow(InputError);
});
