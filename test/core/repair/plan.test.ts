import { describe, expect, it } from "vitest";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { planRepairs } from "#core/repair/plan.ts";
import { at, NOW, node, nodeClaim } from "../../support/builders.ts";

const MINUTE = 60;

/** The nodes of a NodePool; the first `bad` ones are in the given state. */
function scene(bad: readonly Partial<Condition>[], total: number, pool: string | undefined = "default") {
  const labels = pool === undefined ? {} : { "karpenter.sh/nodepool": pool };
  const nodes: Node[] = [];
  const claims: NodeClaim[] = [];
  for (let i = 0; i < total; i++) {
    const providerID = `aws:///z/i-${i}`;
    const conditions = [bad[i] ?? {}].map(
      (state): Condition => ({ type: "Ready", status: "True", lastTransitionTime: at(3_600), ...state }),
    );
    nodes.push({ ...node(), metadata: { name: `n${i}`, labels }, spec: { providerID }, status: { conditions } });
    const claim = nodeClaim({ name: `c${i}`, labels });
    claims.push({ ...claim, status: { ...claim.status, providerID } });
  }
  return { nodes, claims, now: NOW };
}

const silent = (minutes: number, more: Partial<Condition> = {}): Partial<Condition> => ({
  status: "Unknown",
  lastTransitionTime: at(minutes * MINUTE),
  ...more,
});

describe("an unhealthy node", () => {
  it.for([
    { name: "with Ready Unknown for half an hour", state: silent(30), want: ["c0"] },
    { name: "with Ready Unknown for less", state: silent(29), want: [] },
    { name: "with Ready False for half an hour", state: silent(30, { status: "False" }), want: ["c0"] },
    { name: "healthy", state: { status: "True" as const }, want: [] },
    {
      name: "with AcceleratedHardwareReady False for ten minutes",
      state: silent(10, { type: "AcceleratedHardwareReady", status: "False" }),
      want: ["c0"],
    },
    { name: "with AcceleratedHardwareReady Unknown", state: silent(60, { type: "AcceleratedHardwareReady" }), want: [] },
    { name: "with StorageReady False for half an hour", state: silent(30, { type: "StorageReady", status: "False" }), want: ["c0"] },
    { name: "with MemoryPressure, which is no reason for repair", state: silent(60, { type: "MemoryPressure", status: "True" }), want: [] },
  ])("$name", ({ state, want }) => {
    expect(planRepairs(scene([state], 5)).repairs.map(({ claim }) => claim.metadata.name)).toEqual(want);
  });

  it("is reported with the condition whose toleration ended first", () => {
    const { nodes, ...rest } = scene([silent(40)], 5);
    const accelerators: Condition = { type: "AcceleratedHardwareReady", status: "False", lastTransitionTime: at(25 * MINUTE) };
    const both = nodes.map((one, i) =>
      i > 0 ? one : { ...one, status: { conditions: [...(one.status?.conditions ?? []), accelerators] } },
    );
    // The toleration of Ready ended ten minutes ago, that of AcceleratedHardwareReady fifteen.
    expect(planRepairs({ nodes: both, ...rest }).repairs.map(({ condition }) => condition)).toEqual(["AcceleratedHardwareReady"]);
  });

  it("without a NodeClaim is not repaired", () => {
    expect(planRepairs({ ...scene([silent(60)], 5), claims: [] })).toEqual({ repairs: [], blocked: [] });
  });
});

describe("a fifth of the nodes, rounded up, may be unhealthy", () => {
  it.for([
    { bad: 1, total: 1, repaired: 1, blocked: 0 },
    { bad: 2, total: 5, repaired: 0, blocked: 2 },
    { bad: 2, total: 6, repaired: 2, blocked: 0 },
    { bad: 3, total: 10, repaired: 0, blocked: 3 },
    { bad: 20, total: 100, repaired: 20, blocked: 0 },
  ])("$bad of $total", ({ bad, total, repaired, blocked }) => {
    const plan = planRepairs(scene(Array(bad).fill(silent(60)), total));
    expect([plan.repairs.length, plan.blocked.length]).toEqual([repaired, blocked]);
  });

  it("nodes that are unhealthy for a short time count too", () => {
    expect(planRepairs(scene([silent(60), silent(1)], 5)).blocked).toHaveLength(1);
  });

  it("healthy nodes that only say that they belong to the NodePool do not count", () => {
    const { nodes, ...rest } = scene([silent(60), silent(60)], 5);
    const said = scene([], 40).nodes.map((one, i) => ({
      ...one,
      metadata: { ...one.metadata, name: `said-${i}` },
      spec: { providerID: `x-${i}` },
    }));
    expect(planRepairs({ nodes: [...nodes, ...said], ...rest })).toMatchObject({ repairs: [], blocked: [{}, {}] });
  });

  it("the share is that of the NodePool, or of the cluster for claims without a NodePool", () => {
    const poor = scene([silent(60), silent(60)], 3, "poor");
    const rich = scene([silent(60)], 10, "rich");
    const rename = <T extends Node | NodeClaim>(one: T): T => ({
      ...one,
      metadata: { ...one.metadata, name: `rich-${one.metadata.name}` },
    });
    const nodes = [...poor.nodes, ...rich.nodes.map((one) => ({ ...rename(one), spec: { providerID: `${one.spec.providerID}r` } }))];
    const claims = [
      ...poor.claims,
      ...rich.claims.map((one) => ({ ...rename(one), status: { ...one.status, providerID: `${one.status?.providerID}r` } })),
    ];
    const plan = planRepairs({ nodes, claims, now: NOW });
    expect(plan.repairs.map(({ claim }) => claim.metadata.name)).toEqual(["rich-c0"]);
    expect(plan.blocked).toHaveLength(2);
    // Three of thirteen nodes are unhealthy: a fifth of all, rounded up.
    const free = claims.map((one) => ({ ...one, metadata: { ...one.metadata, labels: {} } }));
    expect(planRepairs({ nodes, claims: free, now: NOW }).repairs).toHaveLength(3);
  });
});
