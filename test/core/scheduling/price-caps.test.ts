import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NodePool } from "#core/model/node-pool.ts";
import { solve } from "#core/scheduling/solve.ts";
import { drawsOf } from "../../support/effort.ts";
import {
  CATALOGUE,
  instanceType,
  nodePool,
  nodeWithClaim,
  pod,
  pods,
  scenario,
  snapshotOf,
  ZONES,
} from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";
import { catalogues, deployments } from "./packing/packing-builders.ts";

const capped = (pool: NodePool, dollars: string | undefined): NodePool =>
  dollars === undefined
    ? pool
    : { ...pool, metadata: { ...pool.metadata, annotations: { "karpenter-serverless/max-price-per-hour": dollars } } };

const ONE_SIZE = [instanceType("m.two", 2, 8, { price: 0.1 })];
const nodesBought = (parts: Parameters<typeof scenario>[0], more: Parameters<typeof snapshotOf>[1] = {}): number =>
  solve(snapshotOf({ instanceTypes: ONE_SIZE, ...parts }, more)).newNodeClaims.length;

describe("a cap in dollars an hour", () => {
  it.for([
    { name: "without a cap, each pod gets its node", cap: undefined, want: 5 },
    { name: "a cap of exactly three nodes lets three be bought", cap: "0.3", want: 3 },
    { name: "a cap below three nodes lets two be bought", cap: "0.299999", want: 2 },
    { name: "a cap of nothing lets none be bought", cap: "0", want: 0 },
  ])("of a NodePool: $name", ({ cap, want }) => {
    expect(nodesBought({ pods: pods(5, "web"), nodePools: [capped(nodePool(), cap)] })).toBe(want);
  });

  it("counts the nodes that there are, at the price of their own offering", () => {
    const { node, claim } = nodeWithClaim("n0", { cpu: "500m", labels: { "node.kubernetes.io/instance-type": "m.two" } });
    const parts = { pods: pods(5, "web"), nodePools: [capped(nodePool(), "0.3")], nodes: [node], nodeClaims: [claim] };
    expect(nodesBought(parts)).toBe(2);
  });

  it("counts a machine once, of which a second Node says that it is that machine", () => {
    const { node, claim } = nodeWithClaim("n0", { cpu: "500m", labels: { "node.kubernetes.io/instance-type": "m.two" } });
    const registered = { ...claim, status: { ...claim.status, nodeName: "n0" } };
    const twin = { ...node, metadata: { ...node.metadata, name: "another" } };
    const parts = { pods: pods(5, "web"), nodes: [node, twin], nodeClaims: [registered] };
    expect(nodesBought({ ...parts, nodePools: [capped(nodePool(), "0.3")] })).toBe(2);
    expect(nodesBought({ ...parts, nodePools: [nodePool()] }, { priceCap: { of: "cluster", perHour: 0.3, elsewhere: 0 } })).toBe(2);
  });

  it("of the cluster holds for all NodePools together", () => {
    const nodePools = [nodePool("a", { weight: 2, limits: { nodes: "2" } }), nodePool("b")];
    const plan = solve(
      snapshotOf({ instanceTypes: ONE_SIZE, pods: pods(6, "web"), nodePools }, { priceCap: { of: "cluster", perHour: 0.4, elsewhere: 0 } }),
    );
    expect(plan.newNodeClaims.map((claim) => claim.nodePool).sort()).toEqual(["a", "a", "b", "b"]);
  });

  it("of the cluster holds when the claims of three NodePools become the most expensive types that they list", () => {
    const instanceTypes = [0.1, 0.2, 0.4].map((price, i) => instanceType(`m.x${i}`, 2, 8, { price }));
    const teams = ["a", "b", "c"];
    const nodePools = teams.map((team) => nodePool(team, { labels: { team } }));
    const waiting = teams.map((team) => pod(team, { cpu: "1" }, { nodeSelector: { team } }));
    const cap = { of: "cluster", perHour: 0.5, elsewhere: 0 } as const;
    const { newNodeClaims } = solve(snapshotOf({ instanceTypes, pods: waiting, nodePools }, { priceCap: cap }));
    const priceOf = (name: string): number => instanceTypes.find((type) => type.name === name)?.offerings[0]?.price ?? 0;
    const most = newNodeClaims.map((claim) => Math.max(...claim.instanceTypes.map(priceOf)));
    expect(newNodeClaims).toHaveLength(3);
    expect(most.toSorted()).toEqual([0.1, 0.1, 0.2]);
  });

  it("of the stack leaves what other clusters do not use, and a pod that waits is told of them", () => {
    const priceCap = { of: "stack", perHour: 1, elsewhere: 0.85 } as const;
    const { newNodeClaims, podErrors } = solve(
      snapshotOf({ instanceTypes: ONE_SIZE, pods: pods(2, "web"), nodePools: [nodePool()] }, { priceCap }),
    );
    expect(newNodeClaims).toHaveLength(1);
    expect(Object.values(podErrors)).toEqual([
      "NodePool default: the stack's price cap of $1.0000/h leaves $0.0500/h beside $0.8500/h in other clusters and $0.1000/h for new nodes of this run, and the smallest instance type that holds the pod, m.two, may cost $0.1000/h; raise the setting STACK_MAX_PRICE_PER_HOUR to 1.05 or more",
    ]);
  });

  it("tells a pod that waits what to raise, by an amount that is enough", () => {
    const { node, claim } = nodeWithClaim("n0", { cpu: "500m", labels: { "node.kubernetes.io/instance-type": "m.two" } });
    const parts = { instanceTypes: ONE_SIZE, pods: pods(1, "web"), nodes: [node], nodeClaims: [claim] };
    const { podErrors } = solve(snapshotOf({ ...parts, nodePools: [capped(nodePool(), "0.15")] }));
    expect(Object.values(podErrors)).toEqual([
      "NodePool default: its price cap of $0.1500/h leaves $0.0500/h beside $0.1000/h in use, and the smallest instance type that holds the pod, m.two, may cost $0.1000/h; raise the annotation karpenter-serverless/max-price-per-hour to 0.2 or more",
    ]);
    expect(solve(snapshotOf({ ...parts, nodePools: [capped(nodePool(), "0.2")] })).podErrors).toEqual({});
  });

  it("counts a node on its way as the most expensive that it may become: spot may turn out as on demand", () => {
    const offerings = ZONES.flatMap((zone) => [
      { zone, capacityType: "on-demand" as const, price: 0.1, available: true },
      { zone, capacityType: "spot" as const, price: 0.03, available: true },
    ]);
    const either = [instanceType("m.two", 2, 8, { offerings })];
    const spotOnly = nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }] });
    expect(nodesBought({ instanceTypes: either, pods: pods(5, "web"), nodePools: [capped(nodePool(), "0.2")] })).toBe(2);
    expect(nodesBought({ instanceTypes: either, pods: pods(5, "web"), nodePools: [capped(spotOnly, "0.1")] })).toBe(3);
  });
});

const caps = fc.constantFrom(undefined, "0.1", "0.35", "1.2", "3");

/** Clusters in which NodePools, and the cluster, have price caps. */
const clusters = fc
  .record({
    pods: deployments,
    instanceTypes: fc.oneof(catalogues, fc.constant(CATALOGUE)),
    pools: fc.array(fc.record({ cap: caps, weight: fc.constantFrom(undefined, 10), minValues: fc.constantFrom(undefined, undefined, 2) }), {
      minLength: 1,
      maxLength: 3,
    }),
    cap: fc.constantFrom(undefined, 0.2, 0.8, 2.5),
    hasNode: fc.boolean(),
  })
  .map(({ pods: waiting, instanceTypes, pools, cap, hasNode }) => {
    const nodePools = pools.map(({ cap: own, weight, minValues }, i) =>
      capped(
        nodePool(`pool-${i}`, {
          ...(minValues && { requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists" as const, minValues }] }),
          ...(weight && { weight }),
        }),
        own,
      ),
    );
    const { node, claim } = nodeWithClaim("n0", { pool: "pool-0", cpu: "2", memory: "4Gi" });
    const parts = scenario({ pods: waiting, instanceTypes, nodePools, ...(hasNode ? { nodes: [node], nodeClaims: [claim] } : {}) });
    return { ...parts, ...(cap !== undefined && { maxPricePerHour: cap }) };
  });

it("whatever the claims of a plan are launched as, no NodePool and no cluster costs more than its cap", () => {
  let capsThatLeavePods = 0;
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = solve(scenarioToSnapshot(cluster));
      if (Object.values(plan.podErrors).some((error) => error.includes("price cap"))) capsThatLeavePods++;
      expect(brokenRules(cluster, planToJson(plan, 0))).toEqual([]);
    }),
    { numRuns: drawsOf(150), seed: 20_261_126 },
  );
  expect(capsThatLeavePods).toBeGreaterThan(drawsOf(20));
});
