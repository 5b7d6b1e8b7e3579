import { describe, expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { PodSpec } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { solve } from "#core/scheduling/solve.ts";
import { buffer, podTemplate } from "../../support/buffers.ts";
import { boundPod, nodePool, nodeWithClaim, pod, type Scenario, snapshotOf } from "../../support/scheduling/builders.ts";

/** A snapshot with a buffer of `replicas` pods with these requests. */
function wanting(replicas: number, requests: Record<string, string>, parts: Partial<Scenario> = {}, spec: Partial<PodSpec> = {}): Snapshot {
  const headroom = headroomOf([buffer({ podTemplateRef: { name: "room" }, replicas })], {
    podTemplates: [podTemplate(requests, spec)],
    deployments: [],
    statefulSets: [],
    replicaSets: [],
  });
  return { ...snapshotOf(parts), virtualPods: headroom.flatMap(({ pods }) => pods) };
}

describe("headroom", () => {
  it("headroom is launched when existing nodes have no room", () => {
    const plan = solve(wanting(2, { cpu: "1" }));
    expect(plan.newNodeClaims).toMatchObject([
      { pods: ["default/capacity-buffer-spare-1", "default/capacity-buffer-spare-2"], requests: { cpu: "2" } },
    ]);
  });

  it("headroom uses free room of existing nodes when it suffices", () => {
    const { node, claim } = nodeWithClaim("n1");
    const plan = solve(wanting(3, { cpu: "1" }, { nodes: [node], nodeClaims: [claim], pods: [boundPod("web", "n1")] }));
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.existingNodes).toMatchObject([{ name: "n1", pods: expect.arrayContaining(["default/capacity-buffer-spare-3"]) }]);
  });

  it("headroom is launched again when pods have taken it", () => {
    const { node, claim } = nodeWithClaim("n1");
    const taken = [boundPod("a", "n1", { cpu: "3" })];
    const plan = solve(wanting(2, { cpu: "1" }, { nodes: [node], nodeClaims: [claim], pods: taken }));
    expect(plan.existingNodes).toEqual([{ name: "n1", pods: ["default/capacity-buffer-spare-1"] }]);
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/capacity-buffer-spare-2"] }]);
  });

  it("headroom shares a new node with pending pods", () => {
    const plan = solve(wanting(1, { cpu: "1" }, { pods: [pod("web", { cpu: "2" })] }));
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/capacity-buffer-spare-1", "default/web"] }]);
  });

  it("headroom leaves free room to pending pods, whatever their size", () => {
    const { node, claim } = nodeWithClaim("n1");
    const plan = solve(wanting(1, { cpu: "4" }, { nodes: [node], nodeClaims: [claim], pods: [pod("small", { cpu: "1" })] }));
    expect(plan.existingNodes).toEqual([{ name: "n1", pods: ["default/small"] }]);
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/capacity-buffer-spare-1"] }]);
  });

  it("headroom uses nothing of a limit that pending pods need", () => {
    const parts = { nodePools: [nodePool("default", { limits: { cpu: "4" } })], pods: [pod("web", { cpu: "3" })] };
    const plan = solve(wanting(1, { cpu: "1500m", memory: "12Gi" }, parts));
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/web"] }]);
    expect(Object.keys(plan.podErrors)).toEqual(["default/capacity-buffer-spare-1"]);
  });

  it("headroom that cannot be planned has an error", () => {
    const plan = solve(wanting(1, { cpu: "1000" }));
    expect(plan.podErrors["default/capacity-buffer-spare-1"]).toContain("the closest");
  });

  it("headroom is planned although a pod fits nowhere", () => {
    const plan = solve(wanting(1, { cpu: "1" }, { pods: [pod("giant", { cpu: "1000" })] }));
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/capacity-buffer-spare-1"] }]);
    expect(Object.keys(plan.podErrors)).toEqual(["default/giant"]);
  });
});

describe("headroom in flight", () => {
  const family = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "karpenter.k8s.aws/instance-family", operator: "In" as const, values: ["m", "g"] }] },
          ],
        },
      },
    },
  };

  /** What the next run sees while the NodeClaims of a plan are not launched. */
  function afterwards(before: Snapshot): Snapshot {
    const uids = new Map(before.virtualPods?.map(({ metadata }) => [`default/${metadata.name}`, metadata.uid ?? ""]));
    const records = solve(before).newNodeClaims.map((planned, i): NodeClaimRecord => {
      const podUids = planned.pods.flatMap((name) => uids.get(name) ?? []);
      const facts = { cluster: "c", id: `intent-${i}`, name: `default-${i}`, now: 0, reason: "provisioned" } as const;
      return intentFor(planned, nodePool(), { ...facts, podUids });
    });
    const nominated = new Map(records.flatMap(({ podUids, name }) => podUids.map((uid) => [uid, name])));
    return withInFlight({ ...before, nominated }, records);
  }

  it.for([
    { name: "for pods without labels", spec: {} },
    { name: "also for pods that require labels which a NodeClaim gets at its launch", spec: family },
  ])("headroom in flight is not launched twice, $name", ({ spec }) => {
    const before = wanting(5, { cpu: "1" }, {}, spec);
    expect(solve(before).newNodeClaims.length).toBeGreaterThan(0);
    expect(solve(afterwards(before))).toEqual({ newNodeClaims: [], existingNodes: [], podErrors: {} });
  });

  it("pods may use headroom in flight before its launch", () => {
    const after = afterwards(wanting(2, { cpu: "1" }));
    const plan = solve({ ...after, pods: [pod("web", { cpu: "1" })] });
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.existingNodes).toMatchObject([{ pods: ["default/web"] }]);
  });
});
