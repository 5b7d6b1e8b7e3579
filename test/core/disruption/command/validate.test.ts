import { describe, expect, it } from "vitest";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { validate } from "#core/disruption/command/validate.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Budget, NodePool } from "#core/model/node-pool.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { record } from "#test/support/builders.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, NOW, nodePool, pdb, pod, type Scene, snapshot } from "../builders.ts";

const ON_DEMAND = { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] };

function pools(budgets: readonly Budget[]): readonly NodePool[] {
  const pool = nodePool("default", { budgets });
  return [{ ...pool, spec: { ...pool.spec, template: { spec: { ...pool.spec.template.spec, requirements: [ON_DEMAND] } } } }];
}

/**
 * A core costs $0.05 in small nodes and $0.20 in the two existing large nodes, so that three small nodes replace them.
 */
const TYPES = [
  { ...instanceType("small", 0.1), capacity: { cpu: "2", memory: "8Gi", pods: "50" } },
  { ...instanceType("large", 0.8), capacity: { cpu: "4", memory: "8Gi", pods: "50" } },
];
const CPU = (cpu: string) => ({ containers: [{ name: "main", resources: { requests: { cpu } } }] });

const scene: Scene = {
  pools: pools([{ nodes: "100%" }]),
  types: TYPES,
  machines: ["a", "b"].map((name) => ({ name, type: "large" })),
  pods: [
    pod("p", "a", { spec: { ...CPU("1500m"), nodeName: "a" } }),
    pod("q", "a", { spec: { ...CPU("1500m"), nodeName: "a" } }),
    pod("r", "b", { spec: { ...CPU("1500m"), nodeName: "b" } }),
  ],
};

function decided(start: Snapshot): CommandRecord {
  const { command } = planDisruption({
    snapshot: start,
    records: [],
    commands: [],
    settings: { cluster: "c" },
    now: NOW,
    ...WITH_SOLVE,
    newId: () => "id",
  });
  if (!command) throw new Error("the expensive nodes must be replaced");
  return command;
}

const again = (command: CommandRecord, scenery: Scene, now = NOW, records: readonly NodeClaimRecord[] = []) =>
  validate(command, viewCluster({ snapshot: snapshot(scenery), records, commands: [], now }), simulateWithSolve);

describe("a command with several replacements", () => {
  const command = decided(snapshot(scene));

  it("is what this cluster's pass decides", () => {
    expect(command.candidates.map(({ node }) => node).sort()).toEqual(["a", "b"]);
    expect(command.replacements.map(({ instanceTypes }) => instanceTypes)).toEqual([["small"], ["small"], ["small"]]);
    expect(command.savingsPerHour).toBeCloseTo(1.3, 9);
  });

  it("is valid with all its nodes while nothing changes", () => {
    const result = again(command, scene);
    expect(result.holds && result.candidates.map(({ node }) => node).sort()).toEqual(["a", "b"]);
  });

  it("is not valid when its nodes would come from another NodePool, whose limits it has not asked about", () => {
    const elsewhere = command.replacements.map((one) => ({ ...one, nodePool: "other" }));
    expect(again({ ...command, replacements: elsewhere }, scene)).toEqual({ holds: false, why: "scheduling" });
  });

  it("is valid in any order of the cluster's objects", () => {
    const turned = { ...scene, machines: (scene.machines ?? []).toReversed(), pods: (scene.pods ?? []).toReversed() };
    expect(again(command, turned).holds).toBe(true);
  });

  const more = (node: string, name = "s") => pod(name, node, { spec: { ...CPU("1500m"), nodeName: node } });

  it.for<{ readonly name: string; readonly now: Scene; readonly why: string }>([
    {
      name: "a new pod on one of its nodes needs a fourth node",
      now: { ...scene, pods: [...(scene.pods ?? []), more("b")] },
      why: "scheduling",
    },
    {
      name: "a new pod does not schedule on any new node",
      now: {
        ...scene,
        pods: [...(scene.pods ?? []), pod("s", "b", { spec: { ...CPU("3"), nodeName: "b", nodeSelector: { disk: "ssd" } } })],
      },
      why: "scheduling",
    },
    {
      name: "one pod less needs one node less",
      now: { ...scene, pods: (scene.pods ?? []).slice(1) },
      why: "scheduling",
    },
    {
      name: "a type of a replacement is no longer offered",
      now: { ...scene, types: TYPES.map((one) => (one.name === "small" ? { ...one, name: "tiny" } : one)) },
      why: "scheduling",
    },
    {
      name: "a budget allows only one node",
      now: { ...scene, pools: pools([{ nodes: "1" }]) },
      why: "budget",
    },
    {
      name: "one node is annotated do-not-disrupt",
      now: {
        ...scene,
        machines: [
          { name: "a", type: "large" },
          { name: "b", type: "large", annotations: { "karpenter.sh/do-not-disrupt": "true" } },
        ],
      },
      why: "churn",
    },
    { name: "a PodDisruptionBudget holds a pod", now: { ...scene, pdbs: [pdb("held")] }, why: "churn" },
    { name: "one node is gone", now: { ...scene, machines: (scene.machines ?? []).slice(1) }, why: "churn" },
  ])("is not valid when $name: $why", ({ now, why }) => {
    expect(again(command, now)).toEqual({ holds: false, why });
  });
});

describe("a command whose pods were planned on its destinations alone", () => {
  const three: Scene = { ...scene, machines: ["a", "b", "c"].map((name) => ({ name, type: "large" })) };
  const dear = { ...three, types: TYPES.filter(({ name }) => name === "large"), pods: [pod("p", "a"), pod("r", "b"), pod("s", "c")] };
  const toB: CommandRecord = {
    ...decided(snapshot(scene)),
    ...{ decision: "delete", replacements: [], destinations: { "default/p": "b-claim" }, onlyDestinations: true },
    candidates: decided(snapshot(scene)).candidates.filter(({ node }) => node === "a"),
  };
  const fullB = { ...dear, pods: [...(dear.pods ?? []), pod("t", "b", { spec: { ...CPU("3"), nodeName: "b" } })] };

  it.for([
    { name: "while they have room", command: toB, now: dear, holds: true },
    { name: "while another node alone has room", command: toB, now: fullB, holds: false },
    { name: "while another node alone has room, if any would do", command: { ...toB, onlyDestinations: false }, now: fullB, holds: true },
  ])("is valid $name: $holds", ({ command, now, holds }) => {
    expect(again(command, now).holds).toBe(holds);
  });
});

describe("a Drift command", () => {
  const drifted: Scene = {
    ...scene,
    machines: [{ name: "a", type: "large", drifted: "2025-12-31T01:00:00Z" }],
    pods: (scene.pods ?? []).slice(0, 2),
  };
  const command = decided(snapshot(drifted));
  const less = { ...drifted, pods: (drifted.pods ?? []).slice(1) };

  it("replaces the node with what its pods need", () => {
    expect([command.method, command.replacements.length]).toEqual(["drift", 2]);
  });

  it.for([
    { name: "at once, whatever its pods need by now", seconds: 0, now: less, holds: true },
    { name: "later, when its pods need the same", seconds: 20, now: drifted, holds: true },
    { name: "later, when its pods need less", seconds: 20, now: less, holds: false },
  ])("is carried out $name: $holds", ({ seconds, now, holds }) => {
    expect(again(command, now, NOW + seconds * 1_000).holds).toBe(holds);
  });

  it.for([
    { name: "after", createdAt: NOW, holds: false },
    { name: "before", createdAt: NOW - 1, holds: true },
  ])("is simulated again when a NodeClaim was planned after it, which may have used the limits: $name", ({ createdAt, holds }) => {
    expect(again(command, less, NOW, [record({ createdAt })]).holds).toBe(holds);
  });
});

describe("a command for empty nodes", () => {
  const empty: Scene = { ...scene, pods: [] };
  const command = decided(snapshot(empty));

  it.for([
    { name: "holds after its delay", ms: 15_000, holds: true },
    { name: "holds after a sweep that was late", ms: 100_000, holds: true },
    { name: "is decided anew when so much time has passed that pods may have come and gone", ms: 150_000, holds: false },
  ])("$name", ({ ms, holds }) => {
    expect(command.method).toBe("emptiness");
    expect(again(command, empty, NOW + ms).holds).toBe(holds);
  });
});
