import { describe, expect, it } from "vitest";
import { instanceType, nodePool, planFor, pod, pods } from "../../support/scheduling/builders.ts";
import { nodeOverlay, only } from "./builders.ts";

const TYPE = "node.kubernetes.io/instance-type";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";

describe("plans by overlaid prices", () => {
  const plain = planFor({ pods: pods(1, "web") });

  it("a plan uses the type that an overlay makes cheapest, at its price", () => {
    expect(plain.newNodeClaims[0]?.instanceTypes[0]).toBe("m.small");
    const nodeOverlays = [nodeOverlay("x", { price: "0.001", requirements: [only(TYPE, "m.large")] })];
    const [claim] = planFor({ pods: pods(1, "web"), nodeOverlays }).newNodeClaims;
    expect(claim).toMatchObject({ pricePerHour: 0.001 });
    expect(claim?.instanceTypes[0]).toBe("m.large");
  });

  it("a plan uses the capacity type that an overlay makes cheaper", () => {
    const nodeOverlays = [nodeOverlay("x", { priceAdjustment: "+1000%", requirements: [only(CAPACITY_TYPE, "spot")] })];
    const [claim] = planFor({ pods: pods(1, "web"), nodeOverlays }).newNodeClaims;
    expect(claim?.pricePerHour).toBeCloseTo(0.1);
  });

  it("a plan prefers the NodePool's weight over any price", () => {
    const nodePools = [nodePool("light", { labels: { tier: "x" } }), nodePool("heavy", { weight: 10 })];
    const nodeOverlays = [nodeOverlay("x", { price: "0", requirements: [only("tier", "x")] })];
    expect(planFor({ pods: pods(1, "web"), nodePools, nodeOverlays }).newNodeClaims[0]?.nodePool).toBe("heavy");
  });

  it("an overlay of one NodePool does not apply to another", () => {
    const nodePools = [nodePool("a"), nodePool("b")];
    const nodeOverlays = [nodeOverlay("x", { price: "0.001", requirements: [only("karpenter.sh/nodepool", "a"), only(TYPE, "m.large")] })];
    const planOf = (pool: string) =>
      planFor({ pods: [pod("web", { cpu: "1" }, { nodeSelector: { "karpenter.sh/nodepool": pool } })], nodePools, nodeOverlays });
    expect(planOf("a").newNodeClaims[0]?.instanceTypes[0]).toBe("m.large");
    expect(planOf("b").newNodeClaims[0]?.instanceTypes[0]).toBe("m.small");
  });
});

describe("plans by overlaid capacity", () => {
  const asks = (count: number) => pods(count, "asks", { cpu: "100m", "a.b/device": "1" });

  it("a plan places pods that request an overlay's resource on the types of the overlay", () => {
    expect(planFor({ pods: asks(1) }).podErrors["default/asks-0"]).toContain("a.b/device");
    const nodeOverlays = [nodeOverlay("x", { capacity: { "a.b/device": 2 }, requirements: [only(TYPE, "m.medium")] })];
    const plan = planFor({ pods: asks(5), nodeOverlays });
    expect(plan.podErrors).toEqual({});
    expect(plan.newNodeClaims.map(({ instanceTypes, pods: held }) => [instanceTypes, held.length])).toEqual([
      [["m.medium"], 2],
      [["m.medium"], 2],
      [["m.medium"], 1],
    ]);
  });

  it("a plan subtracts an overlay's huge pages from memory", () => {
    const nodeOverlays = [nodeOverlay("x", { capacity: { "hugepages-2Mi": "6Gi" } })];
    const types = { instanceTypes: [instanceType("m.small", 2, 8)] };
    const huge = pod("huge", { cpu: "1", "hugepages-2Mi": "4Gi" });
    expect(planFor({ pods: [huge], nodeOverlays, ...types }).podErrors).toEqual({});
    expect(planFor({ pods: [pod("large", { memory: "4Gi" })], nodeOverlays, ...types }).podErrors["default/large"]).toContain("memory");
  });
});
