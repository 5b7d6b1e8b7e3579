import { describe, expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import { WITH_SOLVE } from "../../support/disruption/with-solve.ts";
import { daemonSet, nodeWithClaim, planFor, pod } from "../../support/scheduling/builders.ts";
import * as disruption from "../disruption/builders.ts";

const CLAIMS = { resourceClaims: [{ name: "gpu" }] };
const SENTENCE = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";

describe("a pod that claims devices", () => {
  it("a pod with device claims fails with Karpenter's sentence, while other pods are placed", () => {
    const plan = planFor({ pods: [pod("gpu", { cpu: "1" }, CLAIMS), pod("web", { cpu: "1" })] });
    expect(plan.podErrors).toEqual({ "default/gpu": expect.stringContaining(SENTENCE) });
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/web"] }]);
  });

  it("a pod with device claims is not put on an existing node either", () => {
    const { node, claim } = nodeWithClaim("n1");
    const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: [pod("gpu", { cpu: "1" }, CLAIMS)] });
    expect(plan.existingNodes).toEqual([]);
    expect(plan.podErrors["default/gpu"]).toContain(SENTENCE);
  });

  it("relaxing preferences does not help a pod with device claims", () => {
    const preference = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["arm64"] }] };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
    const plan = planFor({ pods: [pod("gpu", { cpu: "1" }, { ...CLAIMS, affinity: { nodeAffinity } })] });
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.podErrors["default/gpu"]).toContain(SENTENCE);
  });

  it.for([
    { name: "a pod with device claims keeps its node from being consolidated", spec: CLAIMS, consolidates: false },
    { name: "a pod without device claims does not keep its node from being consolidated", spec: {}, consolidates: true },
  ])("$name", ({ spec, consolidates }) => {
    const pods = ["n1", "n2"].map((node) =>
      disruption.pod(`on-${node}`, node, { spec: { ...disruption.pod("x").spec, ...spec, nodeName: node } }),
    );
    const plan = planDisruption({
      snapshot: disruption.snapshot({ machines: [{ name: "n1" }, { name: "n2" }], pods }),
      records: [],
      commands: [],
      settings: { cluster: "c" },
      now: disruption.NOW,
      ...WITH_SOLVE,
      newId: () => "id",
    });
    expect(plan.command !== undefined).toBe(consolidates);
    if (!consolidates) expect(plan.blocked.map(({ message }) => message).join()).toContain(SENTENCE);
  });
});

describe("a DaemonSet whose pods claim devices", () => {
  const devices = daemonSet("devices", { cpu: "1" }, CLAIMS);

  it("a DaemonSet with device claims takes no room of new nodes", () => {
    const daemonSets = [devices, daemonSet("agent", { cpu: "500m" })];
    expect(planFor({ daemonSets, pods: [pod("web", { cpu: "1" })] }).newNodeClaims[0]?.requests).toMatchObject({ cpu: "1500m" });
  });

  it("a DaemonSet with device claims takes no room of existing nodes in advance", () => {
    const { node, claim } = nodeWithClaim("n1");
    const plan = planFor({ daemonSets: [devices], nodes: [node], nodeClaims: [claim], pods: [pod("web", { cpu: "4" })] });
    expect(plan.existingNodes).toEqual([{ name: "n1", pods: ["default/web"] }]);
  });
});
