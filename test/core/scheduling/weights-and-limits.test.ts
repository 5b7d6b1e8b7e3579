import { describe, expect, it } from "vitest";
import type { Plan } from "#core/model/plan.ts";
import { boundPod, instanceType, nodePool, nodeWithClaim, planFor, pod, pods, snapshotOf } from "../../support/scheduling/builders.ts";
import { rearranged } from "../../support/scheduling/rearranged.ts";

const FAMILY = "karpenter.k8s.aws/instance-family";
const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });

/** Number of pods by pool. */
function podsByPool({ newNodeClaims }: Plan): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { nodePool: name, pods: placed } of newNodeClaims) counts[name] = (counts[name] ?? 0) + placed.length;
  return counts;
}

/** Sizes of one family, from 2 to 64 cores at one price for each core. */
const SIZES = [2, 4, 8, 16, 32, 64].map((cpu) => instanceType(`m.x${cpu}`, cpu, cpu * 4, { price: cpu * 0.05 }));
const EXPENSIVE = SIZES.map(({ name, offerings, ...type }) => ({
  ...type,
  name: name.replace("m.", "z."),
  requirements: type.requirements.map((r) => (r.key === FAMILY ? only(FAMILY, "z") : r)),
  offerings: offerings.map((offering) => ({ ...offering, price: offering.price * 2 })),
}));
const HEAVY = nodePool("heavy", { weight: 50, requirements: [only(FAMILY, "z")] });
const LIGHT = nodePool("light", { weight: 1, requirements: [only(FAMILY, "m")] });
const instanceTypes = [...SIZES, ...EXPENSIVE];
const limited = (limits: Readonly<Record<string, string>>) => nodePool("heavy", { weight: 50, requirements: [only(FAMILY, "z")], limits });

describe("weights", () => {
  it.for([
    { name: "one pod", count: 1 },
    { name: "as many pods as packing is used for", count: 40 },
  ])("pods go to the heavier pool although a lighter one is cheaper: $name", ({ count }) => {
    expect(podsByPool(planFor({ instanceTypes, pods: pods(count, "web"), nodePools: [HEAVY, LIGHT] }))).toEqual({ heavy: count });
  });

  it("pods go to the heavier pool as long as its limits have room for the cheapest type that holds them", () => {
    // The largest types of a few claims would exceed this limit.
    expect(podsByPool(planFor({ instanceTypes, pods: pods(40, "web"), nodePools: [limited({ cpu: "100" }), LIGHT] }))).toEqual({
      heavy: 40,
    });
  });

  it("only pods beyond the limits of the heavier pool go to the lighter one", () => {
    const plan = planFor({ instanceTypes, pods: pods(40, "web"), nodePools: [limited({ cpu: "20" }), LIGHT] });
    const { heavy = 0, light = 0 } = podsByPool(plan);
    expect(heavy + light).toBe(40);
    // A node of 16 cores has room for 15 pods, one of 4 for 3.
    expect(heavy).toBeGreaterThanOrEqual(18);
  });

  it("room on a planned node of a lighter pool does not draw a pod from a heavier pool", () => {
    const bound = pod("light-only", { cpu: "1" }, { nodeSelector: { [FAMILY]: "m" } });
    const plan = planFor({ instanceTypes, pods: [bound, pod("either", { cpu: "500m" })], nodePools: [HEAVY, LIGHT] });
    expect(podsByPool(plan)).toEqual({ heavy: 1, light: 1 });
  });

  it("a pod that only the lighter pool can take goes there although others prefer the heavier pool", () => {
    const plan = planFor({
      instanceTypes,
      pods: pods(8, "web", { cpu: "1" }, { nodeSelector: { [FAMILY]: "m" } }),
      nodePools: [HEAVY, LIGHT],
    });
    expect(podsByPool(plan)).toEqual({ light: 8 });
  });

  it.for([
    { name: "one pod", count: 1 },
    { name: "as many pods as packing is used for", count: 40 },
  ])("of pools with one weight, the cheaper takes the pods: $name", ({ count }) => {
    const nodePools = [
      nodePool("b-cheap", { requirements: [only(FAMILY, "m")] }),
      nodePool("c-expensive", { requirements: [only(FAMILY, "z")] }),
    ];
    expect(podsByPool(planFor({ instanceTypes, pods: pods(count, "web"), nodePools }))).toEqual({ "b-cheap": count });
  });

  it("a trial cluster counts new nodes of the heaviest pool, and the cheapest of pools with one weight", () => {
    const { node, claim } = nodeWithClaim("a", { cpu: "4" });
    const cost = (...nodePools: ReturnType<typeof nodePool>[]): number =>
      rearranged(snapshotOf({ instanceTypes, nodes: [node], nodeClaims: [claim], pods: [boundPod("p", "a")], nodePools })).costOfRemoving([
        "a",
      ]).price;
    expect(cost(HEAVY, LIGHT)).toBeCloseTo(2 * cost(LIGHT));
    expect(cost({ ...HEAVY, spec: { ...HEAVY.spec, weight: 1 } }, LIGHT)).toBeCloseTo(cost(LIGHT));
  });
});

/** The largest number of cores that each claim of a plan may get. */
const largest = ({ newNodeClaims }: Plan): readonly number[] =>
  newNodeClaims.map((claim) => Math.max(...claim.instanceTypes.map((name) => Number(/x(\d+)$/.exec(name)?.[1]))));
const APART = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" },
      ],
    },
  },
};
const apart = (count: number) => pods(count, "web", { cpu: "1" }, APART, { labels: { app: "web" } });

describe("limits", () => {
  it.for([
    { name: "far limits leave each claim all types", cpu: "1000", want: [64, 64, 64, 64] },
    { name: "near limits cut all claims to the same size", cpu: "100", want: [8, 8, 8, 8] },
    { name: "limits that are just enough leave each claim its cheapest type", cpu: "8", want: [2, 2, 2, 2] },
  ])("$name", ({ cpu, want }) => {
    const plan = planFor({ instanceTypes: SIZES, pods: apart(4), nodePools: [nodePool("default", { limits: { cpu } })] });
    expect(plan.podErrors).toEqual({});
    expect(largest(plan)).toEqual(want);
  });

  it("the widest claims are cut first", () => {
    const plan = planFor({
      instanceTypes: SIZES,
      pods: [...apart(2), pod("big", { cpu: "25" }, APART, { labels: { app: "web" } })],
      nodePools: [nodePool("default", { limits: { cpu: "72" } })],
    });
    // 36 are needed; the claim of 32 cores leaves half of the other 36 to the small ones.
    expect([...largest(plan)].sort((a, b) => a - b)).toEqual([8, 8, 32]);
  });

  it("further types take no more than half of what is left, so that pods of the next run find room", () => {
    const nodePools = [nodePool("default", { limits: { cpu: "100" } })];
    const { newNodeClaims } = planFor({ instanceTypes: SIZES, pods: apart(4), nodePools });
    const charged = largest({ newNodeClaims } as Plan).reduce((sum, cpu) => sum + cpu, 0);
    expect(charged).toBeLessThanOrEqual(8 + (100 - 8) / 2);
  });

  it("minValues hold when claims are cut, and a claim without enough types is not made", () => {
    const families = [instanceType("a.x2", 2, 8), instanceType("b.x4", 4, 16), instanceType("b.x8", 8, 32)];
    const planWithin = (cpu: string): Plan => {
      const requirements = [{ key: FAMILY, operator: "Exists" as const, minValues: 2 }];
      return planFor({ instanceTypes: families, pods: apart(3), nodePools: [nodePool("default", { limits: { cpu }, requirements })] });
    };
    expect(planWithin("12").newNodeClaims.map(({ instanceTypes: types }) => types)).toEqual(Array(3).fill(["a.x2", "b.x4"]));
    expect(planWithin("11").newNodeClaims).toHaveLength(2);
  });

  it("the reason says what is in use, what this run takes, and a limit that is enough", () => {
    const { node, claim } = nodeWithClaim("n1", { cpu: "4" });
    const parts = { instanceTypes: SIZES, nodes: [node], nodeClaims: [claim], pods: [boundPod("old", "n1", { cpu: "4" }), ...apart(3)] };
    const plan = planFor({ ...parts, nodePools: [nodePool("default", { limits: { cpu: "9" } })] });
    expect(Object.values(plan.podErrors)).toEqual([
      "NodePool default: its limit cpu 9 leaves 1 beside 4 in use and 4 for new nodes of this run, and the smallest instance type that holds the pod, m.x2, has cpu 2; raise spec.limits.cpu to 10 or more",
    ]);
    expect(planFor({ ...parts, nodePools: [nodePool("default", { limits: { cpu: "10" } })] }).podErrors).toEqual({});
  });

  it("of types that use the same share of the limits the reason names the cheapest", () => {
    const gpus = { capacity: { "nvidia.com/gpu": "1" } };
    const types = [instanceType("a.x16", 16, 64, { price: 4, ...gpus }), instanceType("b.x4", 4, 16, { price: 1, ...gpus })];
    const wants = pod("p", { cpu: "1", "nvidia.com/gpu": "1" });
    const plan = planFor({ instanceTypes: types, pods: [wants], nodePools: [nodePool("default", { limits: { "nvidia.com/gpu": "0" } })] });
    expect(plan.podErrors["default/p"]).toContain("the smallest instance type that holds the pod, b.x4, has nvidia.com/gpu 1");
  });

  it("a Node that was launched from no NodeClass is none of the NodePool's, whatever its label says", () => {
    const stranger = {
      metadata: { name: "odd", labels: { "karpenter.sh/nodepool": "default" } },
      spec: {},
      status: { capacity: { cpu: "9" }, allocatable: { cpu: "9", memory: "1Gi", pods: "9" } },
    };
    const nodePools = [nodePool("default", { limits: { nodes: "1", cpu: "4" } })];
    expect(planFor({ instanceTypes: SIZES, nodes: [stranger], pods: apart(1), nodePools }).podErrors).toEqual({});
  });

  it.for(["a-twin", "z-twin"])("a machine counts once, although a Node %s says that it is that machine", (name) => {
    const { node, claim } = nodeWithClaim("n1", { cpu: "4" });
    const registered = { ...claim, status: { ...claim.status, nodeName: "n1" } };
    const twin = {
      ...node,
      metadata: { ...node.metadata, name },
      spec: { ...node.spec, taints: [{ key: "odd", effect: "NoSchedule" as const }] },
    };
    const parts = {
      instanceTypes: SIZES,
      nodes: [node, twin],
      nodeClaims: [registered],
      pods: [boundPod("old", "n1", { cpu: "4" }), ...apart(1)],
    };
    const errorsWith = (nodes: string) => planFor({ ...parts, nodePools: [nodePool("default", { limits: { nodes } })] }).podErrors;
    expect(errorsWith("2")).toEqual({});
    expect(Object.values(errorsWith("1"))).toEqual([
      "NodePool default: its limit of 1 node is reached (1 in use); raise spec.limits.nodes to 2 or more",
    ]);
  });
});
