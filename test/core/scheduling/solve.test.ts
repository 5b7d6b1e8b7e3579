import { describe, expect, it } from "vitest";
import type { Plan } from "#core/model/plan.ts";
import { claimRequirements, pendingPods, solve } from "#core/scheduling/solve.ts";
import {
  boundPod,
  CATALOGUE,
  daemonSet,
  instanceType,
  nodePool,
  nodeWithClaim,
  planFor,
  pod,
  pods,
  snapshotOf,
  ZONES,
} from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const requirementOf = (plan: Plan, key: string, claim = 0) => plan.newNodeClaims[claim]?.requirements.find((r) => r.key === key);
const error = (plan: Plan, name: string) => plan.podErrors[`default/${name}`] ?? "";
const near = (app: string, topologyKey: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey });

describe("new claims", () => {
  it("a new claim has the price of the cheapest type with room for all pods, and names all types with room", () => {
    const plan = planFor({ pods: pods(3, "web") });
    expect(plan.newNodeClaims).toHaveLength(1);
    expect(plan.newNodeClaims[0]).toMatchObject({
      nodePool: "default",
      instanceTypes: ["g.medium", "m.medium", "m.large"],
      requests: { cpu: "3", pods: "3" },
    });
    expect(plan.newNodeClaims[0]?.pricePerHour).toBeCloseTo(0.16 * 0.4);
    expect(plan.podErrors).toEqual({});
  });

  it("pools are tried by weight, not by price", () => {
    const plan = planFor({
      pods: pods(1, "web"),
      nodePools: [nodePool("cheap"), nodePool("heavy", { weight: 10, requirements: [only("karpenter.sh/capacity-type", "on-demand")] })],
    });
    expect(plan.newNodeClaims.map((claim) => claim.nodePool)).toEqual(["heavy"]);
  });

  it("of pools with one weight and one price, the last by name takes the pod", () => {
    expect(planFor({ pods: pods(1, "web"), nodePools: [nodePool("a"), nodePool("b")] }).newNodeClaims[0]?.nodePool).toBe("b");
  });

  it.for([
    { name: "node selector", spec: { nodeSelector: { [ZONE]: "zone-b" } } },
    {
      name: "required affinity",
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [only(ZONE, "zone-b")] }] },
          },
        },
      },
    },
    {
      name: "second of two OR-ed terms, when the first fits nowhere",
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [only(ZONE, "nowhere")] }, { matchExpressions: [only(ZONE, "zone-b")] }],
            },
          },
        },
      },
    },
    {
      name: "preference that can be met",
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [only(ZONE, "zone-b")] } }],
          },
        },
      },
    },
  ])("a claim is narrowed to a pod's $name", ({ spec }) => {
    expect(requirementOf(planFor({ pods: [pod("web", { cpu: "1" }, spec)] }), ZONE)).toEqual({
      key: ZONE,
      operator: "In",
      values: ["zone-b"],
    });
  });

  it("invalid requirements in a preference or a DaemonSet do not stop the plan", () => {
    const odd = { matchExpressions: [{ key: "k", operator: "Gt" as const, values: ["x"] }] };
    const prefers = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: odd }] } } };
    const requires = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [odd] } } } };
    const plan = planFor({
      pods: [pod("web", { cpu: "1" }, prefers), pod("odd", { cpu: "1" }, requires)],
      daemonSets: [daemonSet("agent", { cpu: "1" }, requires)],
    });
    expect(plan.newNodeClaims[0]).toMatchObject({ pods: ["default/web"], requests: { cpu: "1" } });
    expect(error(plan, "odd")).toContain("takes exactly one integer");
    const moved = boundPod("odd", "gone", { cpu: "1" }, requires);
    expect(error(planFor({ pods: [moved] }, { extraPods: [moved] }), "odd")).toContain("exclude each other");
  });

  it("a claim cut to 600 types keeps the types that minValues needs", () => {
    const many = Array.from({ length: 700 }, (_, i) =>
      instanceType(`${i === 699 ? "rare" : "plain"}.${i}`, 4, 16, { price: 0.1 + i / 1000 }),
    );
    const pool = nodePool("default", { requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists", minValues: 2 }] });
    const [claim] = planFor({ pods: pods(1, "web"), instanceTypes: many, nodePools: [pool] }).newNodeClaims;
    expect(claim?.instanceTypes).toHaveLength(600);
    expect(claim?.instanceTypes.at(-1)).toBe("rare.699");
    expect(claim?.instanceTypes[0]).toBe("plain.0");
  });

  it("a preference that cannot be met is relaxed, and policy Ignore ignores all preferences", () => {
    const prefers = (zone: string) =>
      pod(
        "web",
        { cpu: "1" },
        {
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [only(ZONE, zone)] } }],
            },
          },
        },
      );
    expect(planFor({ pods: [prefers("nowhere")] }).podErrors).toEqual({});
    expect(requirementOf(planFor({ pods: [prefers("zone-b")] }, { preferencePolicy: "Ignore" }), ZONE)).toBeUndefined();
  });

  it.for([
    { operator: "Gt" as const, values: ["4"], types: ["m.large"] },
    { operator: "Lt" as const, values: ["4"], types: ["m.small"] },
    { operator: "NotIn" as const, values: ["2", "16"], types: ["g.medium", "m.medium"] },
    { operator: "Exists" as const, values: [], types: ["m.small", "g.medium", "m.medium", "m.large"] },
  ])("a claim keeps the types that $operator $values allows", ({ operator, values, types }) => {
    const pool = nodePool("default", { requirements: [{ key: "karpenter.k8s.aws/instance-cpu", operator, values }] });
    expect(planFor({ pods: pods(1, "web"), nodePools: [pool] }).newNodeClaims[0]?.instanceTypes).toEqual(types);
  });

  it("a new node keeps room for the DaemonSets that run on it, and only for those", () => {
    const everywhere = daemonSet("agent", { cpu: "1" });
    const elsewhere = daemonSet("arm", { cpu: "1" }, { nodeSelector: { "kubernetes.io/arch": "arm64" } });
    const plan = planFor({ pods: pods(1, "web"), daemonSets: [everywhere, elsewhere] });
    expect(plan.newNodeClaims[0]?.instanceTypes).toEqual(["g.medium", "m.medium", "m.large"]);
    expect(plan.newNodeClaims[0]?.requests).toMatchObject({ cpu: "2", pods: "2" });
  });

  it("unavailable offerings are not used", () => {
    const gone = instanceType("m.tiny", 2, 8, {
      price: 0.01,
      offerings: [{ zone: "zone-a", capacityType: "spot", price: 0.001, available: false }],
    });
    expect(planFor({ pods: pods(1, "web"), instanceTypes: [...CATALOGUE, gone] }).newNodeClaims[0]?.instanceTypes).not.toContain("m.tiny");
  });

  it("the claim's labels are the pinned custom labels, without well-known ones", () => {
    const pool = nodePool("default", { requirements: [{ key: "team", operator: "Exists" }, only("tier", "gold", "silver")] });
    const plan = planFor({ pods: [pod("web", { cpu: "1" }, { nodeSelector: { team: "red", [ZONE]: "zone-a" } })], nodePools: [pool] });
    expect(plan.newNodeClaims[0]?.labels).toEqual({ team: "red", tier: "gold" });
  });

  it("a claim's requirements name the chosen types", () => {
    const claim = planFor({
      pods: pods(1, "web"),
      nodePools: [
        nodePool("default", {
          requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["m.small", "m.large"], minValues: 2 }],
        }),
      ],
    }).newNodeClaims[0];
    expect(claim && claimRequirements(claim)).toContainEqual({
      key: "node.kubernetes.io/instance-type",
      operator: "In",
      values: ["m.small", "m.large"],
      minValues: 2,
    });
  });
});

describe("taints and limits", () => {
  const taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" as const };

  it("a pool whose taints a pod does not tolerate does not take it", () => {
    const nodePools = [nodePool("default", { taints: [taint] })];
    expect(error(planFor({ pods: pods(1, "web"), nodePools }), "web-0")).toContain("does not tolerate its taint dedicated=gpu:NoSchedule");
    expect(
      planFor({ pods: pods(1, "web", { cpu: "1" }, { tolerations: [{ key: "dedicated", operator: "Exists" }] }), nodePools }).podErrors,
    ).toEqual({});
  });

  it("a pool with a PreferNoSchedule taint is used only when no other pool suits", () => {
    const soft = nodePool("soft", { weight: 9, taints: [{ key: "spare", effect: "PreferNoSchedule" }] });
    expect(planFor({ pods: pods(1, "web"), nodePools: [soft, nodePool()] }).newNodeClaims[0]?.nodePool).toBe("default");
    expect(planFor({ pods: pods(1, "web"), nodePools: [soft] }).newNodeClaims[0]?.nodePool).toBe("soft");
  });

  it("a pool's limits are kept, running nodes included, and the reason names the limit to raise", () => {
    const { node, claim } = nodeWithClaim("n1");
    const full = boundPod("old", "n1", { cpu: "4" });
    const plan = planFor({
      pods: [full, ...pods(2, "web", { cpu: "1500m" })],
      nodes: [node],
      nodeClaims: [claim],
      nodePools: [nodePool("default", { limits: { cpu: "7" } })],
    });
    expect(plan.newNodeClaims.map((c) => c.instanceTypes)).toEqual([["m.small"]]);
    expect(error(plan, "web-1")).toContain("raise spec.limits.cpu");
  });

  it("a claim that is not launched yet counts against the limits", () => {
    const { claim } = nodeWithClaim("n1");
    const unlaunched = {
      ...claim,
      status: {},
      spec: { ...claim.spec, requirements: [only("node.kubernetes.io/instance-type", "m.medium")] },
    };
    const plan = planFor({ pods: pods(1, "web"), nodeClaims: [unlaunched], nodePools: [nodePool("default", { limits: { cpu: "5" } })] });
    expect(error(plan, "web-0")).toContain("limit cpu 5 leaves 1");
  });

  it("a limit on nodes bounds the number of claims", () => {
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", HOST)] } } };
    const plan = planFor({
      pods: pods(3, "web", { cpu: "1" }, apart, { labels: { app: "web" } }),
      nodePools: [nodePool("default", { limits: { nodes: "2" } })],
    });
    expect(plan.newNodeClaims).toHaveLength(2);
    expect(Object.values(plan.podErrors)[0]).toContain("its limit of 2 nodes is reached");
  });

  it("minValues are kept, and policy BestEffort relaxes them", () => {
    const nodePools = [
      nodePool("default", { requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists", minValues: 3 }] }),
    ];
    expect(error(planFor({ pods: pods(1, "web"), nodePools }), "web-0")).toContain("minValues");
    expect(planFor({ pods: pods(1, "web"), nodePools }, { minValuesPolicy: "BestEffort" }).newNodeClaims[0]?.minValuesRelaxed).toBe(true);
  });

  it("minValues count only values that the pod leaves: zones beside its own are not the node's", () => {
    const nodePools = [nodePool("default", { requirements: [{ key: ZONE, operator: "Exists", minValues: 2 }] })];
    const pinned = pods(1, "web", { cpu: "1" }, { nodeSelector: { [ZONE]: ZONES[0] ?? "" } });
    expect(planFor({ pods: pods(1, "web"), nodePools }).newNodeClaims).toHaveLength(1);
    const plan = planFor({ pods: pinned, nodePools });
    expect(plan.newNodeClaims).toEqual([]);
    expect(error(plan, "web-0")).toContain(`its minValues wants 2 different ${ZONE}`);
    const relaxed = planFor({ pods: pinned, nodePools }, { minValuesPolicy: "BestEffort" });
    expect(requirementOf(relaxed, ZONE)?.minValues).toBe(1);
  });

  it.for([
    { name: "to the families that its types have", key: "karpenter.k8s.aws/instance-family", operator: "Exists", min: 3, want: 2 },
    { name: "to the types that it lists", key: "node.kubernetes.io/instance-type", operator: "Exists", min: 9, want: 4 },
    { name: "not below what the pool asks for", key: "karpenter.k8s.aws/instance-family", operator: "Exists", min: 2, want: 2 },
    { name: "and drops it where its types have no value", key: "example.com/rack", operator: "Exists", min: 2, want: undefined },
  ] as const)("under BestEffort a claim lowers minValues $name", ({ key, operator, min, want }) => {
    const nodePools = [nodePool("default", { requirements: [{ key, operator, minValues: min }] })];
    const plan = planFor({ pods: pods(1, "web"), nodePools }, { minValuesPolicy: "BestEffort" });
    expect(requirementOf(plan, key)?.minValues).toBe(want);
    expect(plan.newNodeClaims[0]?.minValuesRelaxed ?? false).toBe(min !== 2 || want === undefined);
  });

  it.for([
    { name: "static", pool: nodePool("default", { replicas: 3 }) },
    { name: "unready", pool: { ...nodePool(), status: { conditions: [{ type: "Ready", status: "False" as const }] } } },
    { name: "deleting", pool: { ...nodePool(), metadata: { name: "default", deletionTimestamp: "2026-01-01T00:00:00Z" } } },
  ])("a $name pool launches no nodes", ({ pool }) => {
    expect(error(planFor({ pods: pods(1, "web"), nodePools: [pool] }), "web-0")).toContain("no NodePool can launch nodes");
  });
});

describe("existing nodes", () => {
  const { node, claim } = nodeWithClaim("n1");
  const cluster = { nodes: [node], nodeClaims: [claim] };

  it("existing nodes are filled before new ones are launched", () => {
    const plan = planFor({ ...cluster, pods: [boundPod("old", "n1", { cpu: "2" }), ...pods(3, "web")] });
    expect(plan.existingNodes).toEqual([{ name: "n1", pods: ["default/web-0", "default/web-1"] }]);
    expect(plan.newNodeClaims[0]?.pods).toEqual(["default/web-2"]);
  });

  it("existing nodes keep room for DaemonSet pods that do not run yet", () => {
    const plan = planFor({ ...cluster, pods: pods(4, "web"), daemonSets: [daemonSet("agent", { cpu: "500m" })] });
    expect(plan.existingNodes[0]?.pods).toHaveLength(3);
  });

  it("a node without a selected label is not used, even for a well-known label", () => {
    const plan = planFor({ ...cluster, pods: [pod("web", { cpu: "1" }, { nodeSelector: { "karpenter.k8s.aws/instance-family": "m" } })] });
    expect(plan.existingNodes).toEqual([]);
    expect(plan.newNodeClaims).toHaveLength(1);
  });

  it("a launched NodeClaim takes pods before it is registered", () => {
    expect(planFor({ nodeClaims: [claim], pods: pods(1, "web") }).existingNodes).toEqual([{ name: "default-n1", pods: ["default/web-0"] }]);
  });

  it("claims that are not launched take no pods, and their nominated pods are not planned again", () => {
    const unlaunched = { ...claim, status: {} };
    const snapshot = snapshotOf({ nodeClaims: [unlaunched], pods: pods(2, "web") }, { nominated: new Map([["uid-web-0", "default-n1"]]) });
    const plan = solve(snapshot);
    expect(plan.existingNodes).toEqual([]);
    expect(plan.newNodeClaims.flatMap((c) => c.pods)).toEqual(["default/web-1"]);
  });

  it("ephemeral taints of a starting node are ignored, those of an initialized node are not", () => {
    const starting = nodeWithClaim("n2", { initialized: false, taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] });
    expect(planFor({ nodes: [starting.node], nodeClaims: [starting.claim], pods: pods(1, "web") }).existingNodes).toHaveLength(1);
    const broken = nodeWithClaim("n3", { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] });
    expect(planFor({ nodes: [broken.node], nodeClaims: [broken.claim], pods: pods(1, "web") }).existingNodes).toEqual([]);
  });

  it("a deleting or disrupted node takes no pods, and its pods are planned", () => {
    const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const plan = planFor({ nodes: [node], nodeClaims: [going], pods: [boundPod("old", "n1"), pod("web")] });
    expect(plan.existingNodes).toEqual([]);
    expect(plan.newNodeClaims.flatMap((c) => c.pods)).toEqual(["default/old", "default/web"]);
    const disrupting = snapshotOf({ ...cluster, pods: [boundPod("old", "n1")] }, { disrupting: new Set(["default-n1"]) });
    expect(solve(disrupting).newNodeClaims.flatMap((c) => c.pods)).toEqual(["default/old"]);
  });

  it("excluded nodes vanish, and their pods in extraPods are placed", () => {
    const other = nodeWithClaim("n2");
    const moved = boundPod("old", "n1", { cpu: "3" });
    const snapshot = snapshotOf({ nodes: [node, other.node], nodeClaims: [claim, other.claim], pods: [moved] });
    const plan = solve(snapshot, { excludeNodes: new Set(["n1"]), extraPods: [moved] });
    expect(plan).toMatchObject({ newNodeClaims: [], existingNodes: [{ name: "n2", pods: ["default/old"] }] });
  });

  it("a settling node takes pending pods and no moved ones", () => {
    const other = nodeWithClaim("n2");
    const moved = boundPod("old", "n1");
    const snapshot = snapshotOf({ nodes: [node, other.node], nodeClaims: [claim, other.claim], pods: [moved, pod("web")] });
    const plan = solve(snapshot, { excludeNodes: new Set(["n1"]), extraPods: [moved], settling: new Set(["n2"]) });
    expect(plan.existingNodes).toEqual([{ name: "n2", pods: ["default/web"] }]);
    expect(plan.newNodeClaims.flatMap((c) => c.pods)).toEqual(["default/old"]);
  });

  it("no other pod gets the room of pods that are nominated to a launched claim", () => {
    const snapshot = snapshotOf(
      { nodeClaims: [claim], pods: [...pods(3, "web"), pod("late", { cpu: "2" })] },
      { nominated: new Map(pods(3, "web").map(({ metadata }) => [metadata.uid ?? "", "default-n1"])) },
    );
    const plan = solve(snapshot);
    expect(plan.existingNodes).toEqual([]);
    expect(plan.newNodeClaims.flatMap((c) => c.pods)).toEqual(["default/late"]);
  });

  it("a node attaches no more volumes than its CSI driver allows", () => {
    const claims = ["a", "b"].map((name) => ({ metadata: { name, namespace: "default" }, spec: { storageClassName: "gp3" } }));
    const plan = planFor({
      ...cluster,
      pods: claims.map(({ metadata }) =>
        pod(metadata.name, { cpu: "1" }, { volumes: [{ name: "data", persistentVolumeClaim: { claimName: metadata.name } }] }),
      ),
      persistentVolumeClaims: claims,
      storageClasses: [{ metadata: { name: "gp3" }, provisioner: "ebs.csi.aws.com", volumeBindingMode: "WaitForFirstConsumer" }],
      csiNodes: [{ metadata: { name: "n1" }, spec: { drivers: [{ name: "ebs.csi.aws.com", allocatable: { count: 1 } }] } }],
    });
    expect(plan.existingNodes[0]?.pods).toHaveLength(1);
    expect(plan.newNodeClaims).toHaveLength(1);
  });
});

describe("volume limits of instance types", () => {
  const limited = CATALOGUE.map((type) => ({ ...type, ...(type.name === "m.large" ? { volumeLimit: 3 } : { volumeLimit: 2 }) }));
  const storageClasses = [{ metadata: { name: "gp3" }, provisioner: "ebs.csi.aws.com", volumeBindingMode: "WaitForFirstConsumer" }];
  const claimOf = (name: string) => ({ metadata: { name, namespace: "default" }, spec: { storageClassName: "gp3" } });
  const podWith = (name: string, ...claims: string[]) =>
    pod(name, { cpu: "100m" }, { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) });
  const planOf = (list: ReturnType<typeof pods>, claims: readonly string[], more: object = {}) =>
    planFor({
      ...more,
      pods: list,
      persistentVolumeClaims: claims.map(claimOf),
      storageClasses,
      instanceTypes: limited,
    });

  it("a new node gets no more pods with volumes than its type attaches, and requests no volumes", () => {
    const names = Array.from({ length: 6 }, (_, i) => `data-${i}`);
    const plan = planOf(
      names.map((name) => podWith(name, name)),
      names,
    );
    expect(plan.podErrors).toEqual({});
    expect(plan.newNodeClaims.length).toBeGreaterThan(1);
    for (const { pods: placed, instanceTypes, requests } of plan.newNodeClaims) {
      expect(placed.length).toBeLessThanOrEqual(instanceTypes.every((name) => name === "m.large") ? 3 : 2);
      expect(requests).not.toHaveProperty("attachable-volumes-aws-ebs");
    }
  });

  it("a pod with many volumes gets a type that attaches them, and more than any attaches are a reason", () => {
    const plan = planOf([podWith("wide", "a", "b", "c"), podWith("huge", "d", "e", "f", "g")], [..."abcdefg"]);
    expect(plan.newNodeClaims.map(({ instanceTypes }) => instanceTypes)).toEqual([["m.large"]]);
    expect(error(plan, "huge")).toContain("attachable-volumes-aws-ebs 4");
  });

  it("a volume that several pods share takes no place of each", () => {
    const plan = planOf(
      Array.from({ length: 5 }, (_, i) => podWith(`web-${i}`, "shared")),
      ["shared"],
    );
    expect(plan.newNodeClaims).toHaveLength(1);
  });

  it("a node without a CSINode attaches as many as its type, and with one as many as that says", () => {
    const { node, claim } = nodeWithClaim("n1");
    const there = { nodes: [node], nodeClaims: [claim] };
    const names = ["a", "b", "c"];
    const list = names.map((name) => podWith(name, name));
    const csiNodes = [{ metadata: { name: "n1" }, spec: { drivers: [{ name: "ebs.csi.aws.com", allocatable: { count: 3 } }] } }];
    expect(planOf(list, names, there).existingNodes[0]?.pods).toHaveLength(2);
    expect(planOf(list, names, { ...there, csiNodes }).existingNodes[0]?.pods).toHaveLength(3);
  });
});

describe("topology", () => {
  const labels = { labels: { app: "web" } };
  const spread = (more: object = {}) => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: ZONE,
        whenUnsatisfiable: "DoNotSchedule" as const,
        labelSelector: { matchLabels: { app: "web" } },
        ...more,
      },
    ],
  });
  const zonesOf = (plan: Plan) => plan.newNodeClaims.flatMap((_, i) => requirementOf(plan, ZONE, i)?.values).sort();

  it("pods of a zone spread are placed in all zones", () => {
    expect(zonesOf(planFor({ pods: pods(3, "web", { cpu: "1" }, spread(), labels) }))).toEqual(ZONES);
  });

  it("a spread counts running pods", () => {
    const { node, claim } = nodeWithClaim("n1");
    const plan = planFor({
      nodes: [node],
      nodeClaims: [claim],
      pods: [boundPod("old", "n1", { cpu: "1" }, {}, labels), ...pods(2, "web", { cpu: "1" }, spread(), labels)],
    });
    expect(plan.existingNodes).toEqual([]);
    expect(zonesOf(plan)).toEqual(["zone-b", "zone-c"]);
  });

  it("with fewer domains than minDomains, pods beyond maxSkew are not placed", () => {
    const plan = planFor({ pods: pods(4, "web", { cpu: "1" }, spread({ minDomains: 4 }), labels) });
    expect(Object.keys(plan.podErrors)).toHaveLength(1);
    expect(Object.values(plan.podErrors)[0]).toContain("spread over topology.kubernetes.io/zone with maxSkew 1");
  });

  it("a ScheduleAnyway spread that cannot be met is relaxed", () => {
    const soft = spread({ topologyKey: "rack", whenUnsatisfiable: "ScheduleAnyway" });
    expect(planFor({ pods: pods(2, "web", { cpu: "1" }, soft, labels) }).podErrors).toEqual({});
  });

  it("pods with anti-affinity by hostname get a node each", () => {
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", HOST)] } } };
    expect(planFor({ pods: pods(3, "web", { cpu: "100m" }, apart, labels) }).newNodeClaims).toHaveLength(3);
  });

  it("pods with anti-affinity by zone are placed in all zones in one run, and one pod too many is not placed", () => {
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", ZONE)] } } };
    const plan = planFor({ pods: pods(4, "web", { cpu: "100m" }, apart, labels) });
    expect(zonesOf(plan)).toEqual(ZONES);
    expect(Object.values(plan.podErrors)[0]).toContain("every one that it may use has some");
  });

  it("anti-affinity of a running pod keeps the selected pods away", () => {
    const { node, claim } = nodeWithClaim("n1");
    const running = boundPod(
      "running",
      "n1",
      { cpu: "1" },
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", ZONE)] } } },
    );
    const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: [running, pod("web", { cpu: "1" }, {}, labels)] });
    expect(plan.existingNodes).toEqual([]);
    expect(requirementOf(plan, ZONE)?.values).toEqual(["zone-b", "zone-c"]);
  });

  it("pods with affinity join the pods that they follow, whichever comes first in the queue", () => {
    const follows = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", ZONE)] } } };
    const plan = planFor({
      pods: [pod("big-follower", { cpu: "14" }, follows), pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-c" } }, labels)],
    });
    expect(plan.podErrors).toEqual({});
    expect(new Set(zonesOf(plan))).toEqual(new Set(["zone-c"]));
  });

  it("the reason of a pod whose affinity matches no pod says so", () => {
    const follows = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("nobody", ZONE)] } } };
    expect(error(planFor({ pods: [pod("web", { cpu: "1" }, follows)] }), "web")).toContain("none runs or is planned");
  });

  it("two pods with the same host port get different nodes", () => {
    const plan = planFor({
      pods: ["a", "b"].map((name) => ({ ...pod(name), spec: { containers: [{ name: "main", ports: [{ hostPort: 80 }] }] } })),
    });
    expect(plan.newNodeClaims).toHaveLength(2);
  });

  /** A pod with a volume that can be used where one of the terms holds. */
  const withVolume = (...terms: readonly (readonly ReturnType<typeof only>[])[]) => ({
    pods: [pod("db", { cpu: "1" }, { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] })],
    persistentVolumeClaims: [
      {
        metadata: { name: "data", namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
        spec: { volumeName: "pv" },
      },
    ],
    persistentVolumes: [
      {
        metadata: { name: "pv" },
        spec: {
          csi: { driver: "disks.example.com" },
          nodeAffinity: { required: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })) } },
        },
      },
    ],
  });

  it("a pod is placed in the zone of its volume", () => {
    expect(requirementOf(planFor(withVolume([only(ZONE, "zone-c")])), ZONE)?.values).toEqual(["zone-c"]);
  });

  it("a pod whose volume is tied to a host that is gone gets no new node, and the reason names the volume and the host", () => {
    const plan = planFor(withVolume([only("kubernetes.io/hostname", "gone")]));
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.podErrors["default/db"]).toMatch(/PersistentVolumeClaim default\/data can only be used with .*gone.*bring that node back/);
  });

  it("a pod whose volume is tied to a host that is there runs on that host", () => {
    const { node, claim } = nodeWithClaim("there");
    const plan = planFor({ ...withVolume([only("kubernetes.io/hostname", "there")]), nodes: [node], nodeClaims: [claim] });
    expect(plan.existingNodes).toEqual([{ name: "there", pods: ["default/db"] }]);
  });

  it("of the places of a volume, a new node can only be one that is no host", () => {
    const plan = planFor(withVolume([only("kubernetes.io/hostname", "gone")], [only(ZONE, "zone-b")]));
    expect(requirementOf(plan, ZONE)?.values).toEqual(["zone-b"]);
  });
});

describe("reserved capacity", () => {
  const reserved = instanceType("m.medium", 4, 16, {
    offerings: [
      { zone: "zone-a", capacityType: "on-demand", price: 0.2, available: true },
      { zone: "zone-a", capacityType: "reserved", price: 0.2 / 1e7, available: true, reservationId: "cr-1", reservationCapacity: 1 },
    ],
  });
  const two = { pods: pods(2, "web", { cpu: "3" }), instanceTypes: [reserved] };

  it("a claim is pinned to its reservation, and pods without one are deferred", () => {
    const plan = planFor(two);
    expect(plan.newNodeClaims).toHaveLength(1);
    expect(requirementOf(plan, "karpenter.sh/capacity-type")?.values).toEqual(["reserved"]);
    expect(Object.values(plan.podErrors)[0]).toContain("tried again in the next");
  });

  it("reservedMode fallback uses other capacity when reservations are taken", () => {
    const plan = planFor(two, { reservedMode: "fallback" });
    expect(plan.podErrors).toEqual({});
    expect(plan.newNodeClaims.map((c) => c.pricePerHour).sort((a, b) => a - b)).toEqual([0.2 / 1e7, 0.2]);
  });
});

describe("pending pods", () => {
  it.for([
    { name: "bound", pod: boundPod("p", "n1") },
    { name: "not yet seen by kube-scheduler", pod: { ...pod("p"), status: { phase: "Pending" as const } } },
    {
      name: "gated",
      pod: { ...pod("p"), status: { conditions: [{ type: "PodScheduled", status: "False" as const, reason: "SchedulingGated" }] } },
    },
    { name: "nominated by preemption", pod: { ...pod("p"), status: { ...pod("p").status, nominatedNodeName: "n1" } } },
    {
      name: "of a DaemonSet",
      pod: pod("p", {}, {}, { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] }),
    },
    {
      name: "declining Karpenter",
      pod: pod(
        "p",
        {},
        {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "DoesNotExist" as const }] }],
              },
            },
          },
        },
      ),
    },
  ])("pods that are $name are not pending", ({ pod: candidate }) => {
    const snapshot = snapshotOf({ pods: [candidate] });
    expect(pendingPods(snapshot).pods).toEqual([]);
    expect(solve(snapshot)).toEqual({ newNodeClaims: [], existingNodes: [], podErrors: {} });
  });

  it.for([
    {
      name: "the annotation do-not-disrupt",
      pod: boundPod("p", "n1", {}, {}, { annotations: { "karpenter.sh/do-not-disrupt": "true" } }),
      budgets: [],
    },
    {
      name: "a budget with maxUnavailable 0",
      pod: boundPod("p", "n1", {}, {}, { labels: { app: "p" } }),
      budgets: [{ metadata: { name: "b", namespace: "default" }, spec: { selector: { matchLabels: { app: "p" } }, maxUnavailable: 0 } }],
    },
  ])("a pod held by $name is not planned while its node is disrupted", ({ pod: held, budgets }) => {
    const { node, claim } = nodeWithClaim("n1");
    const snapshot = snapshotOf(
      { nodes: [node], nodeClaims: [claim], pods: [held, boundPod("free", "n1")], podDisruptionBudgets: budgets },
      { disrupting: new Set(["default-n1"]) },
    );
    expect(pendingPods(snapshot).pods.map(({ metadata }) => metadata.name)).toEqual(["free"]);
  });
});
