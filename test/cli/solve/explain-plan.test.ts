import { expect, it } from "vitest";
import { explainPlan } from "#cli/solve/explain-plan.ts";
import { solve } from "#core/scheduling/solve.ts";
import { boundPod, daemonSet, nodePool, nodeWithClaim, pod, pods, type Scenario, snapshotOf } from "../../support/scheduling/builders.ts";

function explained(parts: Partial<Scenario>): string {
  const snapshot = snapshotOf(parts);
  return explainPlan(solve(snapshot), snapshot);
}

const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" },
      ],
    },
  },
};
const { node, claim } = nodeWithClaim("n1");
const cluster = {
  nodes: [node],
  nodeClaims: [claim],
  nodePools: [
    nodePool(),
    nodePool("dear", {
      requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
    }),
    nodePool("gpu", { weight: 10, taints: [{ key: "gpu", effect: "NoSchedule" }] }),
  ],
  daemonSets: [daemonSet("agent", { cpu: "100m", memory: "64Mi" })],
  pods: [
    boundPod("old", "n1", { cpu: "2500m" }),
    ...pods(3, "web", { cpu: "1500m" }, apart, { labels: { app: "web" } }),
    pod("cache", { cpu: "1", memory: "12Gi" }),
    pod("huge", { cpu: "99" }),
    { ...pod("new"), status: {} },
  ],
};

it("the explanation has prices, new nodes with why, where pods are placed, and what to fix", async () => {
  await expect(explained(cluster)).toMatchFileSnapshot("explain-plan.golden.txt");
});

it("the explanation stays within 100 columns", () => {
  const long = pods(30, `a-name-that-is-rather-long-as-those-of-jobs-made-by-machines-are-${"x".repeat(20)}`, { cpu: "1" });
  for (const line of explained({ ...cluster, pods: [...cluster.pods, ...long] }).split("\n")) {
    // A single name may be longer, because it cannot be broken.
    if (line.trim().includes(" ")) expect(line.length, line).toBeLessThanOrEqual(100);
  }
});

it("the explanation groups nodes of one kind", () => {
  const text = explained({ pods: pods(3, "web", { cpu: "1500m" }, apart, { labels: { app: "web" } }) });
  expect(text).toContain("3 × m.small at $0.0400/h each");
  expect(text).toContain("1 a node: default/web-0, default/web-1 and default/web-2");
  expect(text.match(/NodePool default/g)).toHaveLength(1);
});

it("the explanation names the pods that are not planned, and why", () => {
  const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const declines = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "DoesNotExist" as const }] }],
        },
      },
    },
  };
  const text = explained({
    nodes: [node],
    nodeClaims: [going],
    podDisruptionBudgets: [
      { metadata: { name: "none", namespace: "default" }, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 0 } },
    ],
    pods: [
      pod("own-nodes", { cpu: "1" }, declines),
      { ...pod("new"), status: {} },
      boundPod("job", "n1", { cpu: "1" }, {}, { annotations: { "karpenter.sh/do-not-disrupt": "true" } }),
      boundPod("db", "n1", { cpu: "1" }, {}, { labels: { app: "db" } }),
    ],
  });
  expect(text.slice(text.indexOf("LEFT ALONE"))).toBe(`LEFT ALONE

  1 pod asking not to run on nodes of a NodePool: default/own-nodes
  1 pod not given up by kube-scheduler (no condition PodScheduled, status False, reason
  Unschedulable): default/new
  default/job stays on n1, a node that goes: held by its annotation karpenter.sh/do-not-disrupt
  default/db stays on n1, a node that goes: held by PodDisruptionBudget default/none, which never
  lets it go
`);
});

it("the explanation of an empty plan is not empty", () => {
  expect(explained({ nodePools: [] })).toBe(
    "0 new nodes, $0.0000/h (~$0.00 a month); 0 pods placed, 0 left\nthere is no NodePool, so no node can be bought\n",
  );
});
