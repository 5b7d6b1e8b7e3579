import { describe, expect, it } from "vitest";
import type { Plan } from "#core/model/plan.ts";
import { instanceType, nodePool, planFor, pods } from "#test/support/scheduling/builders.ts";
import { onDemand, ZONE } from "./packing-builders.ts";

const AMD = { nodeSelector: { "kubernetes.io/arch": "amd64" } };

/** Unplaced pods of a plan: their number by name without the trailing index. */
function leftBy({ podErrors }: Plan): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of Object.keys(podErrors)) {
    const name = key.replace(/^default\//, "").replace(/-\d+$/, "");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe("a plan leaves no pod that Karpenter's strategy places", () => {
  it("one large pod is not left for three small pods with constraints", () => {
    // A node of 4 cpu and no more: room for the large pod or for the small ones.
    const parts = {
      nodePools: [nodePool("default", { limits: { cpu: "4" } })],
      instanceTypes: [instanceType("m.medium", 4, 16)],
      pods: [...pods(3, "small", { cpu: "1" }, AMD), ...pods(1, "large", { cpu: "3500m" })],
    };
    expect(leftBy(planFor(parts))).toEqual({ small: 3 });
  });

  it("a plan leaves no more pods of a class than Karpenter's strategy leaves of it", () => {
    const parts = {
      nodePools: [nodePool("default", { limits: { nodes: "2" } })],
      instanceTypes: [instanceType("m.medium", 4, 16)],
      pods: [...pods(2, "first", { cpu: "2" }), ...pods(6, "second", { cpu: "1" }, AMD)],
    };
    const left = leftBy(planFor(parts));
    // Large pods first: two of 2 cpu, and beside each one pod of 1 cpu.
    expect(left["first"] ?? 0).toBe(0);
  });
});

describe("pods with a hard spread come before pods that only count in it", () => {
  const labels = { app: "web" };
  const labelSelector = { matchLabels: labels };
  const topologySpreadConstraints = [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector }];
  const arm = instanceType("g.medium", 4, 16, { arch: "arm64", offerings: [onDemand("zone-b", 0.2)] });
  const amd = instanceType("m.large", 16, 64, {
    offerings: [onDemand("zone-a", 0.8), onDemand("zone-b", 0.5), onDemand("zone-c", 0.8)],
  });

  it("a pod that only counts in a spread does not fill the one zone that a pod of the spread can use", () => {
    const owner = { nodeSelector: { "kubernetes.io/arch": "arm64" }, topologySpreadConstraints };
    const parts = {
      instanceTypes: [arm, amd],
      pods: [...pods(4, "bystander", { cpu: "3" }, AMD, { labels }), ...pods(1, "owner", { cpu: "1" }, owner, { labels })],
    };
    expect(leftBy(planFor(parts))).toEqual({});
  });
});
