import { describe, expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import type { Budget, NodePool } from "#core/model/node-pool.ts";
import { NOW, nodePool, pod, roomForAll, snapshot } from "../builders.ts";

const DRIFTED = "2026-01-01T10:00:00Z";

/** What a pass decides about a static NodePool with some drifted nodes. */
function decide({
  replicas = 3,
  drifted = ["b"],
  budgets = [{ nodes: "1" }],
  limits,
  gate = true,
  pods = [],
}: {
  readonly replicas?: number;
  readonly drifted?: readonly string[];
  readonly budgets?: readonly Budget[];
  readonly limits?: NodePool["spec"]["limits"];
  readonly gate?: boolean;
  readonly pods?: Parameters<typeof snapshot>[0]["pods"];
}): string {
  const pool = nodePool("default", { budgets }, { replicas, ...(limits && { limits }) });
  const machines = ["a", "b", "c"].map((name) => ({ name, ...(drifted.includes(name) && { drifted: DRIFTED }) }));
  const settings = { cluster: "c", staticCapacity: gate };
  const { command } = planDisruption({
    ...{ snapshot: snapshot({ pools: [pool], machines, pods: pods ?? [] }), records: [], commands: [], settings, now: NOW },
    ...{ simulate: roomForAll, makeTrial: undefined },
    newId: () => "id",
  });
  if (command === undefined) return "nothing";
  return `${command.reason} ${command.decision} ${command.candidates.map(({ node }) => node).join(" ")} by ${command.replacements.length}`;
}

describe("a drifted node of a static pool", () => {
  it.for([
    { name: "is replaced by one node of its pool", scene: {}, want: "Drifted replace b by 1" },
    { name: "is replaced whatever pods it has", scene: { pods: [pod("p", "b")] }, want: "Drifted replace b by 1" },
    {
      name: "is replaced one at a time, nodes without pods first",
      scene: { drifted: ["a", "b"], pods: [pod("p", "a")] },
      want: "Drifted replace b by 1",
    },
    { name: "stays when the budget is spent", scene: { budgets: [{ nodes: "0" }] }, want: "nothing" },
    { name: "stays while the pool has more claims than replicas", scene: { replicas: 2 }, want: "nothing" },
    { name: "stays when limits.nodes has no room for its replacement", scene: { limits: { nodes: "3" } }, want: "nothing" },
    {
      name: "is replaced when limits.nodes has room for its replacement",
      scene: { limits: { nodes: "4" } },
      want: "Drifted replace b by 1",
    },
    {
      name: "stays while a pod has do-not-disrupt",
      scene: { pods: [pod("p", "b", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } })] },
      want: "nothing",
    },
    { name: "stays when the gate StaticCapacity is off", scene: { gate: false }, want: "nothing" },
    { name: "is not invented where no claim has drifted", scene: { drifted: [] }, want: "nothing" },
  ])("$name", ({ scene, want }) => {
    expect(decide(scene)).toBe(want);
  });
});
