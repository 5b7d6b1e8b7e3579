import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { consolidate, explainConsolidation } from "../../../functions/cli/consolidate.ts";
import { InputError } from "../../../functions/cli/scenario.ts";
import { instanceType, nodePool, pod, snapshot } from "../../core/disruption/builders.ts";
import { buffer, podTemplate } from "../../support/buffers.ts";

/** A scenario file; the builders' snapshot already has its lists. */
function scenarioFile(scene: Parameters<typeof snapshot>[0], types = ["small", "large"], more: object = {}): string {
  const file = join(mkdtempSync(join(tmpdir(), "consolidate-")), "scenario.json");
  const { instanceTypes: _, ...lists } = snapshot(scene);
  const instanceTypes = types.map((name) => instanceType(name));
  writeFileSync(file, JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", ...more, instanceTypes }));
  return file;
}

it("writes the disruption plan of a scenario", () => {
  const file = scenarioFile({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "b")] });
  expect(consolidate(file)).toEqual({
    commands: [{ method: "emptiness", candidates: ["a"], replacements: [], decision: "delete", savings: 0.4 }],
  });
});

it("moves pods with the real scheduler: two half-empty nodes become one", () => {
  const file = scenarioFile({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
  const { commands } = consolidate(file);
  expect(commands[0]).toMatchObject({ method: "multi", decision: "replace", candidates: ["a", "b"] });
  expect(commands[0]?.savings).toBeCloseTo(0.8 - 0.1 * 0.4);
  expect(commands[0]?.replacements[0]?.pods).toEqual(["default/p", "default/q"]);
});

it("reckons with the scenario's NodeOverlays, and says which of them have no effect", () => {
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

it("keeps the room that the scenario's CapacityBuffers have", () => {
  const scene = { pools: [nodePool("default", { consolidationPolicy: "WhenEmpty" })], machines: [{ name: "a" }, { name: "b" }] };
  const more = { capacityBuffers: [buffer()], podTemplates: [podTemplate()] };
  const plan = consolidate(scenarioFile(scene, ["small", "large"], more), { explain: true });
  expect(plan.commands).toMatchObject([{ method: "emptiness", candidates: ["b"] }]);
  expect(plan.stays).toMatchObject([{ node: "a", reason: 'Node "a" has buffer pods' }]);
});

it("explains why nodes stay", () => {
  const file = scenarioFile({
    pools: [nodePool("default", { consolidateAfter: "Never" })],
    machines: [{ name: "a" }],
    pods: [pod("p", "a")],
  });
  expect(consolidate(file, { explain: true })).toEqual({
    commands: [],
    stays: [{ node: "a", nodeClaim: "a-claim", reason: 'NodePool "default" has consolidation disabled' }],
  });
});

it("tells people what goes, what comes and what stays", () => {
  const machines = [{ name: "a" }, { name: "b" }, { name: "c", pool: "gone", taints: [{ key: "mine", effect: "NoSchedule" as const }] }];
  const plan = consolidate(scenarioFile({ machines, pods: [pod("p", "a"), pod("q", "b")] }), { explain: true });
  expect(explainConsolidation(plan)).toBe(
    "multi: replace 2 nodes (a, b), saving $0.7600/h\n  in their place: small or any of 1 more types in default, for 2 pods\nc stays: NodePool not found (NodePool=gone)\n",
  );
  expect(explainConsolidation({ commands: [] })).toBe("nothing to disrupt\n");
});

it("says what is wrong with a file in one sentence", () => {
  expect(() => consolidate("/nowhere/scenario.json")).toThrow(InputError);
});
