import { describe, expect, it } from "vitest";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import type { ConsolidationContext } from "#core/disruption/consolidation/consolidation.ts";
import type { Decision, Method } from "#core/disruption/consolidation/decision.ts";
import { reasonOf } from "#core/disruption/consolidation/decision.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { drift } from "#core/disruption/methods/drift.ts";
import { emptiness } from "#core/disruption/methods/emptiness.ts";
import { findUnhealthy, repair } from "#core/disruption/methods/repair.ts";
import { inTurns, singleNode } from "#core/disruption/methods/single-node.ts";
import { sleep } from "#core/disruption/methods/sleep.ts";
import { multiNode } from "#core/disruption/node-sets/multi-node.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import { instanceType, NOW, nodePool, pdb, planned, pod, roomForAll, type Scene, simulated, snapshot } from "./builders.ts";

function run(
  method: Method,
  scene: Scene,
  simulate: Simulate = roomForAll,
  settings: Partial<ConsolidationContext["settings"]> = {},
): Decision {
  const view = viewCluster({ snapshot: snapshot(scene), records: [], commands: [], now: NOW });
  const context = { view, simulate, settings: { cluster: "c", ...settings } };
  const { all } = findCandidates(view);
  const budgets = poolBudgets(view, reasonOf(method));
  switch (method) {
    case "emptiness":
      return emptiness(all, budgets, NOW);
    case "drift":
      return drift(context, all, budgets);
    case "multi":
      return multiNode(context, all, budgets);
    case "single":
      return singleNode(context, all, budgets);
    case "sleep":
      return sleep(all, budgets, NOW);
    case "repair": {
      const unhealthy = findUnhealthy(view);
      return repair(context, unhealthy, new Set(unhealthy.candidates), budgets, { commands: [], records: [] });
    }
  }
}

const nodesOf = ({ found }: Decision): readonly string[] => found?.candidates.map(({ node }) => node) ?? [];
const reasonsOf = ({ blocked }: Decision): readonly string[] => blocked.map((node) => describeBlocked(node.blocked));
/** A scheduler that plans one new node for every removal. */
const oneNew = (parts: Parameters<typeof planned>[0] = {}): Simulate => simulated(() => ({ newNodeClaims: [planned(parts)] }));
const spot = [{ key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["spot"] }];
const either = [{ key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand", "spot"] }];

describe("Emptiness", () => {
  it("takes all empty nodes, most expensive first, with or without DaemonSet pods", () => {
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }];
    const scene = {
      machines: [{ name: "a", type: "small" }, { name: "b", type: "huge" }, { name: "c" }],
      pods: [pod("agent", "b", { metadata: { ownerReferences } }), pod("p", "c")],
    };
    expect(nodesOf(run("emptiness", scene))).toEqual(["b", "a"]);
  });

  it("takes a node whose pods have eviction cost 0", () => {
    const annotations = { "controller.kubernetes.io/pod-deletion-cost": String(-(2 ** 27)) };
    expect(nodesOf(run("emptiness", { machines: [{ name: "a" }], pods: [pod("p", "a", { metadata: { annotations } })] }))).toEqual(["a"]);
  });

  it("stops at the budget and states it", () => {
    const decision = run("emptiness", {
      pools: [nodePool("default", { budgets: [{ nodes: "1" }] })],
      machines: [{ name: "a" }, { name: "b" }],
    });
    expect(nodesOf(decision)).toEqual(["a"]);
    expect(reasonsOf(decision)).toEqual(["No allowed disruptions for disruption reason Empty due to blocking budget (NodePool=default)"]);
  });

  it.for([
    { name: "an empty node under WhenEmpty", disruption: { consolidationPolicy: "WhenEmpty" as const }, want: ["a"] },
    { name: "no node under consolidateAfter Never", disruption: { consolidateAfter: "Never" }, want: [] },
    { name: "no node inside consolidateAfter", disruption: { consolidateAfter: "37h" }, want: [] },
    { name: "an empty node past consolidateAfter", disruption: { consolidateAfter: "36h" }, want: ["a"] },
  ])("$name: $want", ({ disruption, want }) => {
    expect(nodesOf(run("emptiness", { pools: [nodePool("default", disruption)], machines: [{ name: "a" }] }))).toEqual(want);
  });

  it("does not take nodes of static pools", () => {
    expect(nodesOf(run("emptiness", { pools: [nodePool("default", {}, { replicas: 2 })], machines: [{ name: "a" }] }))).toEqual([]);
  });
});

describe("Drift", () => {
  it("takes the node that drifted first, nodes without pods before others", () => {
    const machines = [
      { name: "a", drifted: "2025-12-31T01:00:00Z" },
      { name: "b", drifted: "2025-12-31T03:00:00Z" },
      { name: "c", drifted: "2025-12-31T02:00:00Z" },
      { name: "d" },
    ];
    expect(nodesOf(run("drift", { machines }))).toEqual(["a"]);
    expect(nodesOf(run("drift", { machines, pods: [pod("p", "a")] }))).toEqual(["c"]);
  });

  it("plans any number of replacements at any price, and skips a node whose pods do not schedule", () => {
    const machines = [
      { name: "a", drifted: "2025-12-31T01:00:00Z" },
      { name: "b", drifted: "2025-12-31T02:00:00Z" },
    ];
    const simulate = simulated(({ excludeNodes }) =>
      excludeNodes.has("a")
        ? { podErrors: { "default/p": "too big" } }
        : { newNodeClaims: [planned({ pods: ["default/q"] }), planned({ pods: ["default/q"] })] },
    );
    const decision = run("drift", { machines, pods: [pod("p", "a"), pod("q", "b")] }, simulate);
    expect(nodesOf(decision)).toEqual(["b"]);
    expect(decision.found?.replacements).toHaveLength(2);
    expect(reasonsOf(decision)).toEqual(["not all pods would schedule, default/p => too big"]);
  });

  it("leaves new nodes for pods that were pending before to provisioning", () => {
    const machines = [{ name: "a", drifted: "2025-12-31T01:00:00Z" }];
    const simulate = simulated(() => ({
      newNodeClaims: [planned({ pods: ["default/waiting"] }), planned({ pods: ["default/p", "default/waiting"] })],
    }));
    const decision = run("drift", { machines, pods: [pod("p", "a")] }, simulate);
    expect(decision.found?.replacements.map(({ pods }) => pods)).toEqual([["default/p", "default/waiting"]]);
  });

  it("ignores do-not-disrupt pods only under a terminationGracePeriod", () => {
    const drifted = "2025-12-31T01:00:00Z";
    const scene = { machines: [{ name: "a", drifted }], pods: [pod("p", "a")], pdbs: [pdb("b")] };
    expect(nodesOf(run("drift", scene))).toEqual([]);
    expect(nodesOf(run("drift", { ...scene, machines: [{ name: "a", drifted, terminationGracePeriod: "1h" }] }))).toEqual(["a"]);
  });
});

describe("SingleNodeConsolidation", () => {
  const busy = { machines: [{ name: "a" }], pods: [pod("p", "a")] };

  it("deletes a node whose pods fit elsewhere", () => {
    const decision = run("single", busy);
    expect(nodesOf(decision)).toEqual(["a"]);
    expect(decision.found?.replacements).toEqual([]);
  });

  it("leaves empty nodes to Emptiness", () => {
    expect(run("single", { machines: [{ name: "a" }] }).eligible).toBe(0);
  });

  it("replaces a node by strictly cheaper types only, cheapest first", () => {
    expect(run("single", busy, oneNew()).found?.replacements[0]).toMatchObject({ instanceTypes: ["small", "medium"], pricePerHour: 0.1 });
    const small = { ...busy, machines: [{ name: "a", type: "small" }] };
    expect(reasonsOf(run("single", small, oneNew()))).toEqual([
      "Can't replace with a cheaper node: its pods would need new nodes for $0.1000/h, it costs $0.1000/h",
    ]);
  });

  // kube-scheduler binds such pods: no node has the label.
  it.for([
    { name: "a key of 317 characters", key: `${"d.".repeat(126)}d/${"n".repeat(63)}`, why: "has a key of more than 316 characters" },
    { name: "a restricted label", key: "karpenter.sh/own", why: "label karpenter.sh/own is restricted" },
  ])("no node is replaced whose pod asks for $name, and it may still be moved to a node", ({ key, why }) => {
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "DoesNotExist" as const }] }],
        },
      },
    };
    const spec = { affinity, containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] };
    const odd = { machines: [{ name: "a", type: "huge" }], pods: [pod("p", "a", { spec: { ...spec, nodeName: "a" } })] };
    expect(run("single", { ...odd, pods: [pod("p", "a")] }, simulateWithSolve).found?.replacements).toHaveLength(1);
    const decision = run("single", odd, simulateWithSolve);
    expect(decision.found).toBeUndefined();
    expect(reasonsOf(decision).join()).toContain(why);
    const two = { ...odd, machines: [...odd.machines, { name: "b", type: "small" }], pods: [...odd.pods, pod("q", "b")] };
    expect(run("single", two, simulateWithSolve).found).toMatchObject({ candidates: [{ node: "a" }], replacements: [] });
  });

  it("pins a replacement that admits both capacity types to spot, where spot was cheaper", () => {
    const replacement = run("single", busy, oneNew({ requirements: either })).found?.replacements[0];
    expect(replacement?.requirements).toEqual(spot);
    expect(replacement?.instanceTypes).toEqual(["small", "medium", "large", "huge"]);
    expect(replacement?.pricePerHour).toBeCloseTo(0.04);
  });

  it("compares the worst launch price of a type", () => {
    const uneven = { ...instanceType("uneven", 0.1) };
    const offerings = uneven.offerings.map((offering) => (offering.zone === "b" ? { ...offering, price: 0.5 } : offering));
    const types = [{ ...uneven, offerings }, instanceType("large")];
    const decision = run("single", { ...busy, types }, oneNew({ instanceTypes: ["uneven", "large"] }));
    expect(reasonsOf(decision)).toEqual(["Can't replace with a cheaper node"]);
  });

  it("replaces spot by spot only with SpotToSpotConsolidation and fifteen cheaper types", () => {
    const scene = { ...busy, machines: [{ name: "a", capacityType: "spot" }] };
    expect(reasonsOf(run("single", scene, oneNew({ requirements: spot })))).toEqual([
      "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
    ]);
    const on = { spotToSpotConsolidation: true };
    expect(reasonsOf(run("single", scene, oneNew({ requirements: spot }), on))).toEqual([
      "SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got 2",
    ]);
    const names = Array.from({ length: 20 }, (_, i) => `t${String(i).padStart(2, "0")}`);
    const types = [...names.map((name, i) => instanceType(name, 0.1 + i / 1000)), instanceType("large")];
    const flexible = run("single", { ...scene, types }, oneNew({ requirements: spot, instanceTypes: names }), on);
    expect(flexible.found?.replacements[0]?.instanceTypes).toEqual(names.slice(0, 15));
    expect(nodesOf(run("single", scene))).toEqual(["a"]);
  });

  it("keeps the minValues of a replacement", () => {
    const requirements = [...oneNewRequirements(3)];
    expect(reasonsOf(run("single", busy, oneNew({ requirements })))).toEqual([
      "Filtering by price: minValues of 3 for node.kubernetes.io/instance-type is not met by the cheaper instance types, which have 2",
    ]);
    expect(nodesOf(run("single", busy, oneNew({ requirements: oneNewRequirements(2) })))).toEqual(["a"]);
  });

  it.for([
    {
      name: "its pods do not schedule",
      answer: { podErrors: { "default/p": "no room" } },
      want: "not all pods would schedule, default/p => no room",
    },
    {
      name: "its pods need two new nodes",
      answer: { newNodeClaims: [planned(), planned()] },
      want: "Can't remove without creating 2 candidates",
    },
  ])("keeps a node when $name", ({ answer, want }) => {
    expect(
      reasonsOf(
        run(
          "single",
          busy,
          simulated(() => answer),
        ),
      ),
    ).toEqual([want]);
  });

  it("ignores pods that were pending before", () => {
    const simulate = simulated(() => ({ podErrors: { "default/waiting": "no room" } }));
    expect(nodesOf(run("single", { ...busy, pods: [...busy.pods, pod("waiting")] }, simulate))).toEqual(["a"]);
  });

  it("moves no pod to a node that is not initialized or inside consolidateAfter", () => {
    const scene = {
      pools: [nodePool(), nodePool("slow", { consolidateAfter: "37h" })],
      machines: [{ name: "a" }, { name: "b", initialized: false }, { name: "c", pool: "slow" }],
      pods: [pod("p", "a")],
    };
    const onto = (name: string) =>
      reasonsOf(
        run(
          "single",
          scene,
          simulated(() => ({ existingNodes: [{ name, pods: ["default/p"] }] })),
        ),
      );
    expect(onto("b")).toEqual(["not all pods would schedule, default/p => would schedule against uninitialized nodeclaim/b-claim, node/b"]);
    expect(onto("c")).toEqual([
      "not all pods would schedule, default/p => would schedule against node/c, which is inside its consolidateAfter window",
    ]);
  });

  it("takes NodePools in turn, those not reached in the last pass first", () => {
    const view = viewCluster({
      snapshot: snapshot({
        pools: [nodePool("x"), nodePool("y")],
        machines: [
          { name: "a", pool: "x" },
          { name: "b", pool: "x" },
          { name: "c", pool: "y" },
        ],
      }),
      records: [],
      commands: [],
      now: NOW,
    });
    const { all } = findCandidates(view);
    expect(inTurns(all).map(({ node }) => node)).toEqual(["a", "c", "b"]);
    expect(inTurns(all, ["y"]).map(({ node }) => node)).toEqual(["c", "a", "b"]);
  });
});

function oneNewRequirements(minValues: number) {
  return [
    { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
    { key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues },
  ];
}

describe("MultiNodeConsolidation", () => {
  const machines = ["a", "b", "c", "d", "e"].map((name) => ({ name }));
  const pods = machines.map(({ name }) => pod(`p-${name}`, name));

  it("finds the longest prefix that can be removed", () => {
    const atMost = (n: number): Simulate =>
      simulated(({ excludeNodes }) => (excludeNodes.size > n ? { podErrors: { "default/p-a": "no room" } } : {}));
    expect(nodesOf(run("multi", { machines, pods }, atMost(3)))).toEqual(["a", "b", "c"]);
    expect(nodesOf(run("multi", { machines, pods }))).toHaveLength(5);
    expect(nodesOf(run("multi", { machines, pods }, atMost(1)))).toEqual([]);
  });

  it("prefers the prefix that saves most", () => {
    const simulate = simulated(({ excludeNodes }) => ({
      newNodeClaims: excludeNodes.size > 4 ? [planned({ instanceTypes: ["titan"] })] : [],
    }));
    const types = [...Object.entries({ small: 0.1, large: 0.4, titan: 1.5 })].map(([name, price]) => instanceType(name, price));
    expect(nodesOf(run("multi", { machines, pods, types }, simulate))).toHaveLength(4);
  });

  it("replaces by a candidate's type only where it is cheaper than each such candidate", () => {
    const decision = run("multi", { machines, pods }, oneNew({ instanceTypes: ["large", "huge"] }));
    expect(decision.found).toBeUndefined();
    expect(run("multi", { machines, pods }, oneNew()).found?.replacements[0]?.instanceTypes).toEqual(["small", "medium"]);
  });

  it("keeps within the budgets", () => {
    const pools = [nodePool("default", { budgets: [{ nodes: "3" }] })];
    const decision = run("multi", { pools, machines, pods });
    expect(nodesOf(decision)).toEqual(["a", "b", "c"]);
    expect(decision.blocked).toHaveLength(2);
  });
});
