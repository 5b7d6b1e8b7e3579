import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { nodeCost } from "#core/offerings/node-cost.ts";
import { podKey } from "#core/pods/predicates.ts";
import { type ConsolidationTrial, makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { solve } from "#core/scheduling/solve.ts";
import { clusters } from "../../support/scheduling/arbitraries.ts";
import { boundPod, nodePool, nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const NODE_COST = nodeCost(undefined, {});

/**
 * Nodes "a" and "b" of 4 cores, and a pool of on-demand capacity: m.small has 1.9 cores for pods at 0.10 USD per hour.
 */
function scene(pods: readonly Pod[], more: Partial<Snapshot> = {}): Snapshot {
  const joined = ["a", "b"].map((name) => nodeWithClaim(name));
  return snapshotOf(
    {
      nodes: joined.map(({ node }) => node),
      nodeClaims: joined.map(({ claim }) => claim),
      nodePools: [nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] })],
      pods,
    },
    more,
  );
}

function trial(snapshot: Snapshot, closed: readonly string[] = []): ConsolidationTrial {
  const podsByNode = new Map(
    ["a", "b"].map((name): [string, readonly Pod[]] => [name, snapshot.pods.filter(({ spec }) => spec.nodeName === name)]),
  );
  return makeConsolidationTrial(snapshot, { podsByNode, closed: new Set(closed) });
}

const cpu = (name: string, amount: string, node = "a", spec: Pod["spec"] = {}) => boundPod(name, node, { cpu: amount }, spec);

describe("the value of pods at shadow prices", () => {
  it("the value of pods is proportional to their requests and adds up", () => {
    const [large, small] = [cpu("large", "1400m"), cpu("small", "500m")];
    const { worthOf } = trial(scene([large, small]));
    expect(worthOf([large])).toBeCloseTo(2.8 * worthOf([small]), 9);
    expect(worthOf([large, small])).toBeCloseTo(worthOf([large]) + worthOf([small]), 12);
    expect(worthOf([])).toBe(0);
  });

  it("the value of a core is its price on the nodes that are cheapest for all pods", () => {
    // m.large: 0.80 USD per hour for 15.9 cores; g.medium: 0.16 for 3.9, which is less per core.
    const filling = cpu("p", "3900m");
    expect(trial(scene([filling])).worthOf([filling])).toBeCloseTo(0.16, 3);
  });

  it("pods that no pool can launch a node for, and unknown pods, have the value 0", () => {
    expect(trial(scene([cpu("p", "1")])).worthOf([cpu("q", "1")])).toBe(0);
    const odd = cpu("odd", "1", "a", { nodeSelector: { disk: "ssd" } });
    expect(trial(scene([odd])).worthOf([odd])).toBe(0);
  });

  it("the value of pods is never above the price of a plan for them", () => {
    let compared = 0;
    fc.assert(
      fc.property(clusters, (cluster) => {
        const pods = cluster.pods.filter(({ spec }) => spec.nodeName === undefined);
        const onNewNodes = (some: readonly Pod[]): Snapshot => snapshotOf({ ...cluster, nodes: [], nodeClaims: [], pods: some });
        const { podErrors: unplaced } = solve(onNewNodes(pods));
        const snapshot = onNewNodes(pods.filter((one) => unplaced[podKey(one)] === undefined));
        const { newNodeClaims, podErrors } = solve(snapshot);
        if (newNodeClaims.length === 0 || Object.keys(podErrors).length > 0) return;
        compared++;
        const { worthOf } = makeConsolidationTrial(snapshot, { podsByNode: new Map([["gone", snapshot.pods]]), closed: new Set() });
        const costs = newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour + NODE_COST, 0);
        expect(worthOf(snapshot.pods)).toBeLessThanOrEqual(costs + 1e-9);
      }),
      { numRuns: 60 },
    );
    expect(compared).toBeGreaterThan(3);
  });
});

describe("a trial cluster of a snapshot", () => {
  const two = [cpu("p", "2"), cpu("q", "1", "b")];

  it("closed nodes take no pods", () => {
    expect(trial(scene(two)).trialCluster.tryEmpty("a")).toBe(true);
    expect(trial(scene(two), ["b"]).trialCluster.tryEmpty("a")).toBe(false);
  });

  it("pending pods and virtual pods keep the room that they take", () => {
    expect(trial(scene([...two, pod("waits", { cpu: "3" })])).trialCluster.tryEmpty("a")).toBe(false);
    const withVirtual = trial(scene(two, { virtualPods: [pod("later", { cpu: "3" })] }));
    expect(withVirtual.trialCluster.tryEmpty("a")).toBe(false);
  });

  it("nominated pods take the room of their node", () => {
    const coming = pod("coming", { cpu: "3" });
    const nominated = new Map([[coming.metadata.uid ?? "", "default-b"]]);
    expect(trial(scene([...two, coming], { nominated })).trialCluster.tryEmpty("a")).toBe(false);
    const elsewhere = new Map([[coming.metadata.uid ?? "", "default-c"]]);
    expect(trial(scene([...two, coming], { nominated: elsewhere })).trialCluster.tryEmpty("a")).toBe(true);
  });

  it("a node that is being disrupted takes no pods", () => {
    const snapshot = scene(two, { disrupting: new Set(["default-b"]) });
    expect(trial(snapshot).trialCluster.tryEmpty("a")).toBe(false);
  });
});
