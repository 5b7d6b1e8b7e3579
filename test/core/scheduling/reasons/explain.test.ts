import { describe, expect, it } from "vitest";
import type { NodePool } from "#core/model/node-pool.ts";
import { solve } from "#core/scheduling/solve.ts";
import {
  boundPod,
  daemonSet,
  nodePool,
  nodeWithClaim,
  planFor,
  pod,
  type Scenario,
  snapshotOf,
} from "#test/support/scheduling/builders.ts";
import { FAILING_PODS } from "#test/support/scheduling/failing-pods.ts";

/** The reasons of each case, one on a line. */
function published([about, cases]: (typeof FAILING_PODS)[number]): string {
  const lines = cases.flatMap(({ name, scene }) => {
    const reasons = [...new Set(Object.values(planFor(scene).podErrors))];
    expect(reasons, name).not.toEqual([]);
    return [`  ${name}:`, ...reasons.map((reason) => `    ${reason}`)];
  });
  return [about, ...lines, ""].join("\n");
}

it("the reasons of unplaced pods are those of the golden file", async () => {
  await expect(FAILING_PODS.map(published).join("\n")).toMatchFileSnapshot("explain.golden.txt");
});

it("beside a pool of ours, the pools of EKS Auto Mode are no part of the reason; a pool of an unknown class is", () => {
  const of = (name: string, group: string): NodePool => {
    const pool = nodePool(name);
    const nodeClassRef = { group, kind: "NodeClass", name: "default" };
    return { ...pool, spec: { ...pool.spec, template: { spec: { ...pool.spec.template.spec, nodeClassRef } } } };
  };
  const otherPools = [of("auto", "eks.amazonaws.com"), of("typo", "karpenter.aws")];
  const [reason = ""] = Object.values(solve(snapshotOf({ pods: [pod("big", { cpu: "9999" })] }, { otherPools })).podErrors);
  expect(reason).toContain("NodePool default: ");
  expect(reason).toContain("NodePool typo cannot be used: ");
  expect(reason).not.toContain("auto");
});

it("equal pods have one reason, which never contains a planned claim's internal name", () => {
  const together = {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" },
        ],
      },
    },
  };
  const crowd = Array.from({ length: 12 }, (_, i) => pod(`web-${i}`, { cpu: "3" }, together, { labels: { app: "web" } }));
  const reasons = new Set(Object.values(planFor({ pods: crowd }).podErrors));
  expect([...reasons]).toEqual([
    "NodePool default: the pod must share its kubernetes.io/hostname with pods with app=web, which are on 1 new node of this run, too full for the pod",
  ]);
});

describe("the advice in a reason", () => {
  const { node, claim } = nodeWithClaim("n1");
  const limited = (limits: Readonly<Record<string, string>>): Partial<Scenario> => ({
    nodes: [node],
    nodeClaims: [claim],
    pods: [boundPod("old", "n1", { cpu: "4" }), pod("web", { cpu: "3" })],
    nodePools: [nodePool("default", { limits })],
  });
  const pools = (change: Parameters<typeof nodePool>[1]): readonly NodePool[] => [nodePool("default", change)];
  const taints = [{ key: "dedicated", value: "gpu", effect: "NoSchedule" as const }];

  it.for<{ advice: string; before: Partial<Scenario>; after: Partial<Scenario> }>([
    {
      advice: "raise spec.limits.cpu to 8 or more and spec.limits.memory to 32Gi or more",
      before: limited({ cpu: "6", memory: "20Gi" }),
      after: limited({ cpu: "8", memory: "32Gi" }),
    },
    {
      advice: "add it to spec.template.metadata.labels",
      before: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { team: "blue" } })] },
      after: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { team: "blue" } })], nodePools: pools({ labels: { team: "blue" } }) },
    },
    {
      advice: "add a toleration if it may run there",
      before: { pods: [pod("web")], nodePools: pools({ taints }) },
      after: {
        pods: [pod("web", { cpu: "1" }, { tolerations: [{ key: "dedicated", operator: "Exists" }] })],
        nodePools: pools({ taints }),
      },
    },
    {
      advice: "100m too little",
      before: { pods: [pod("web", { cpu: "16" })] },
      after: { pods: [pod("web", { cpu: "15900m" })] },
    },
    {
      advice: "without daemonset kube-system/agent it would have room",
      before: { pods: [pod("web", { cpu: "15500m" })], daemonSets: [daemonSet("agent", { cpu: "500m" })] },
      after: { pods: [pod("web", { cpu: "15500m" })] },
    },
    {
      advice: "did you mean zone-a?",
      before: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { "topology.kubernetes.io/zone": "zone-A" } })] },
      after: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { "topology.kubernetes.io/zone": "zone-a" } })] },
    },
  ])("a pod is placed after its advice is followed: $advice", ({ advice, before, after }) => {
    expect(planFor(before).podErrors["default/web"]).toContain(advice);
    expect(planFor(after).podErrors).toEqual({});
  });

  it("a limit of one core less than advised is not enough", () => {
    expect(planFor(limited({ cpu: "7", memory: "32Gi" })).podErrors["default/web"]).toContain("raise spec.limits.cpu to 8 or more");
  });
});
