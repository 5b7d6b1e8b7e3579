import { describe, expect, it } from "vitest";
import type { NodePool } from "../../../../core/model/node-pool.ts";
import { boundPod, daemonSet, nodePool, nodeWithClaim, planFor, pod, type Scenario } from "../../../support/scheduling/builders.ts";
import { FAILING_PODS } from "../../../support/scheduling/failing-pods.ts";

/** One line for each reason that a plan gives. */
function published([about, cases]: (typeof FAILING_PODS)[number]): string {
  const lines = cases.flatMap(({ name, scene }) => {
    const reasons = [...new Set(Object.values(planFor(scene).podErrors))];
    expect(reasons, name).not.toEqual([]);
    return [`  ${name}:`, ...reasons.map((reason) => `    ${reason}`)];
  });
  return [about, ...lines, ""].join("\n");
}

it("tells in words that lead to the mend why pods are left", async () => {
  await expect(FAILING_PODS.map(published).join("\n")).toMatchFileSnapshot("explain.golden.txt");
});

it("tells one reason for pods that differ in nothing that matters, and never a node of the plan by the name it has while planning", () => {
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

describe("whoever follows the advice gets the pod placed", () => {
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
  ])("$advice", ({ advice, before, after }) => {
    expect(planFor(before).podErrors["default/web"]).toContain(advice);
    expect(planFor(after).podErrors).toEqual({});
  });

  it("and a limit that is one short of what was advised is not enough", () => {
    expect(planFor(limited({ cpu: "7", memory: "32Gi" })).podErrors["default/web"]).toContain("raise spec.limits.cpu to 8 or more");
  });
});
