import { describe, expect, it } from "vitest";
import type { Offering } from "#core/model/instance-type.ts";
import { boundPod, daemonSet, instanceType, nodePool, nodeWithClaim, planFor, pod } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const labelled = (labels: Record<string, string>) => ({ labels });
const near = (labels: Record<string, string>, topologyKey: string) => ({ labelSelector: { matchLabels: labels }, topologyKey });
const affinityTo = (...terms: ReturnType<typeof near>[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const placed = (plan: ReturnType<typeof planFor>) => [...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }) => pods).sort();

/** Faults of plans that kube-filters (test/conformance) has found, each reduced to a small scenario. */
describe("required pod affinity with several terms", () => {
  const { node, claim } = nodeWithClaim("node-1", { cpu: "16" });
  const terms = affinityTo(near({ app: "web" }, ZONE), near({ tier: "front" }, HOST));

  it.for([
    { name: "one pod that matches all terms meets required affinity", there: [{ app: "web", tier: "front" }], want: ["default/new"] },
    { name: "pods that match one term each do not meet required affinity", there: [{ app: "web" }, { tier: "front" }], want: [] },
  ])("$name", ({ there, want }) => {
    const bound = there.map((labels, i) => boundPod(`there-${i}`, "node-1", { cpu: "1" }, {}, labelled(labels)));
    const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: [...bound, pod("new", { cpu: "1" }, terms)] });
    expect(placed(plan)).toEqual(want);
  });

  it.for([
    { name: "the first pod that matches its own affinity terms is placed", labels: { app: "web", tier: "front" }, want: ["default/new"] },
    { name: "a pod that does not match its own affinity terms is not placed without others", labels: { app: "web" }, want: [] },
  ])("$name", ({ labels, want }) => {
    expect(placed(planFor({ pods: [pod("new", { cpu: "1" }, terms, labelled(labels))] }))).toEqual(want);
  });

  it("no pod starts a group while matching pods run on a node that lacks one of the topology keys", () => {
    const labels = { [ZONE]: "zone-a", [HOST]: "old" };
    const unmanaged = {
      metadata: { name: "old", labels },
      spec: {},
      status: { allocatable: { cpu: "1", memory: "1Gi", pods: "1" }, capacity: { cpu: "1", memory: "1Gi", pods: "1" } },
    };
    const both = affinityTo(near({ app: "web" }, ZONE), near({ app: "web" }, CAPACITY_TYPE));
    const plan = planFor({
      nodes: [unmanaged],
      pods: [
        boundPod("there", "old", { cpu: "1" }, {}, labelled({ app: "web" })),
        pod("new", { cpu: "1" }, both, labelled({ app: "web" })),
      ],
    });
    expect(placed(plan)).toEqual([]);
  });
});

describe("several hard spreads of a pod", () => {
  const spread = (topologyKey: string, maxSkew: number) => ({
    topologyKey,
    maxSkew,
    whenUnsatisfiable: "DoNotSchedule" as const,
    labelSelector: { matchLabels: { app: "web" } },
  });
  it.for([
    {
      name: "hard spreads do not count pods on a node that lacks one of their keys",
      keys: [ZONE, CAPACITY_TYPE],
      want: ["zone-a", "zone-b", "zone-c"],
    },
    { name: "hard spreads count pods on a node with all of their keys", keys: [ZONE], want: ["zone-b", "zone-c", "zone-b"] },
  ])("$name", ({ keys, want }) => {
    const room = { cpu: "1", memory: "1Gi", pods: "2" };
    const old = { metadata: { name: "old", labels: { [ZONE]: "zone-a" } }, spec: {}, status: { allocatable: room, capacity: room } };
    const there = [0, 1].map((i) => boundPod(`there-${i}`, "old", {}, {}, labelled({ app: "web" })));
    const constraints = keys.map((key) => spread(key, key === ZONE ? 1 : 9));
    const waiting = [0, 1, 2].map((i) =>
      pod(`web-${i}`, { cpu: "1" }, { topologySpreadConstraints: constraints }, labelled({ app: "web" })),
    );
    const plan = planFor({ nodes: [old], pods: [...there, ...waiting] });
    const zones = plan.newNodeClaims.flatMap(({ pods, requirements }) =>
      pods.map(() => requirements.find(({ key }) => key === ZONE)?.values?.[0]),
    );
    expect(zones.sort()).toEqual(want.sort());
  });
});

describe("nodeTaintsPolicy Honor", () => {
  it.for([
    {
      name: "nodeTaintsPolicy Honor counts pods on nodes with a PreferNoSchedule taint",
      effect: "PreferNoSchedule" as const,
      want: ["zone-b"],
    },
    {
      name: "nodeTaintsPolicy Honor does not count pods on nodes with a NoSchedule taint",
      effect: "NoSchedule" as const,
      want: ["zone-a"],
    },
  ])("$name", ({ effect, want }) => {
    const { node, claim } = nodeWithClaim("node-1", { cpu: "1", taints: [{ key: "a", effect }] });
    const spread = {
      topologyKey: ZONE,
      maxSkew: 1,
      whenUnsatisfiable: "DoNotSchedule" as const,
      nodeTaintsPolicy: "Honor" as const,
      labelSelector: { matchLabels: { app: "web" } },
    };
    const plan = planFor({
      nodes: [node],
      nodeClaims: [claim],
      pods: [
        boundPod("there", "node-1", { cpu: "1" }, {}, labelled({ app: "web" })),
        pod("new", { cpu: "1" }, { topologySpreadConstraints: [spread] }, labelled({ app: "web" })),
      ],
    });
    expect(plan.newNodeClaims[0]?.requirements.find(({ key }) => key === ZONE)?.values).toEqual(want);
  });
});

describe("a pod that a hard spread of others counts", () => {
  const spread = {
    topologyKey: ZONE,
    maxSkew: 1,
    whenUnsatisfiable: "DoNotSchedule" as const,
    labelSelector: { matchLabels: { app: "web" } },
  };
  const owner = pod("owner", { cpu: "1" }, { topologySpreadConstraints: [spread] }, labelled({ app: "web" }));
  it.for([
    {
      name: "a pod that a hard spread of others counts is pinned to the cheapest domain",
      labels: { app: "web" },
      soft: false,
      want: ["zone-c"],
    },
    { name: "a pod that only a ScheduleAnyway spread counts is not pinned", labels: { app: "web" }, soft: true, want: undefined },
    { name: "a pod that no spread counts is not pinned", labels: { app: "other" }, soft: false, want: undefined },
  ])("$name", ({ labels, soft, want }) => {
    const price = { "zone-a": 0.3, "zone-b": 0.2, "zone-c": 0.1 };
    const offerings = Object.entries(price).map(
      ([zone, usd]): Offering => ({ zone, capacityType: "on-demand", price: usd, available: true }),
    );
    const constraint = { ...spread, whenUnsatisfiable: soft ? ("ScheduleAnyway" as const) : spread.whenUnsatisfiable };
    const plan = planFor({
      instanceTypes: [instanceType("m.small", 2, 8, { offerings })],
      pods: [
        { ...owner, spec: { ...owner.spec, topologySpreadConstraints: [constraint] } },
        pod("by", { cpu: "1500m" }, {}, labelled(labels)),
      ],
    });
    const claim = plan.newNodeClaims.find(({ pods }) => pods.includes("default/by"));
    expect(claim?.requirements.find(({ key }) => key === ZONE)?.values).toEqual(want);
  });
});

describe("DaemonSet pods that do not run yet", () => {
  const ports = (port: number) => ({
    containers: [{ name: "main", ports: [{ hostPort: port }], resources: { requests: { cpu: "100m" } } }],
  });
  it.for([
    { name: "expected DaemonSet pods keep their host port on a node", daemon: 8080, taints: [], want: "new" },
    {
      name: "expected DaemonSet pods keep their host port on a node with a PreferNoSchedule taint",
      daemon: 8080,
      taints: [{ key: "a", effect: "PreferNoSchedule" as const }],
      want: "new",
    },
    {
      name: "a DaemonSet that does not tolerate a node's taint keeps no host port there",
      daemon: 8080,
      taints: [{ key: "a", effect: "NoSchedule" as const }],
      want: "node",
    },
    { name: "expected DaemonSet pods leave other host ports free", daemon: 9090, taints: [], want: "node" },
  ])("$name", ({ daemon, taints, want }) => {
    const { node, claim } = nodeWithClaim("node-1", { taints });
    const plan = planFor({
      nodes: [node],
      nodeClaims: [claim],
      daemonSets: [daemonSet("agent", {}, ports(daemon))],
      pods: [pod("web", {}, { ...ports(8080), tolerations: [{ key: "a", operator: "Exists" }] })],
      nodePools: [nodePool("default", { requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] })],
    });
    // New nodes run the DaemonSet too, so a new node suits the pod only if their host ports differ.
    expect(plan.existingNodes.length).toBe(want === "node" ? 1 : 0);
  });
});

describe("minValues and reserved capacity", () => {
  const reserved: Offering = {
    zone: "zone-a",
    capacityType: "reserved",
    price: 1e-8,
    available: true,
    reservationId: "cr-1",
    reservationCapacity: 1,
  };
  const onDemand: Offering = { zone: "zone-a", capacityType: "on-demand", price: 0.1, available: true };
  it.for([
    {
      name: "a claim is pinned to its reservation when that leaves enough types for minValues",
      minValues: 1,
      capacityTypes: ["reserved"],
      types: ["a.large"],
    },
    {
      name: "a claim keeps other capacity when its reservation alone has too few types for minValues",
      minValues: 2,
      capacityTypes: ["on-demand", "reserved"],
      types: ["a.large", "b.large"],
    },
  ])("$name", ({ minValues, capacityTypes, types }) => {
    const plan = planFor({
      nodePools: [nodePool("default", { requirements: [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues }] })],
      instanceTypes: [
        instanceType("a.large", 2, 8, { offerings: [onDemand, reserved] }),
        instanceType("b.large", 2, 8, { offerings: [onDemand] }),
      ],
      pods: [pod("web")],
    });
    expect(plan.newNodeClaims[0]?.instanceTypes).toEqual(types);
    expect(plan.newNodeClaims[0]?.requirements.find(({ key }) => key === CAPACITY_TYPE)?.values).toEqual(capacityTypes);
    expect(plan.newNodeClaims[0]?.pricePerHour).toBe(1e-8);
  });
});

describe("requests that differ from those of the spec", () => {
  const shrinking = (cpu: string) => ({
    ...boundPod("shrinking", "node-1", { cpu: "100m" }),
    status: {
      phase: "Running" as const,
      containerStatuses: [{ name: "main", allocatedResources: { cpu }, resources: { requests: { cpu } } }],
    },
  });

  it.for([
    { name: "a node is full while a pod that shrinks still holds its cpu", held: "1500m", want: "new" },
    { name: "a node has room once a pod that shrank has given its cpu back", held: "100m", want: "existing" },
  ])("$name", ({ held, want }) => {
    const { node, claim } = nodeWithClaim("node-1", { cpu: "2" });
    const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: [shrinking(held), pod("new")] });
    expect([plan.newNodeClaims.length, plan.existingNodes.length]).toEqual(want === "new" ? [1, 0] : [0, 1]);
  });

  it("a pod that disruption moves keeps the room that it holds", () => {
    const { node, claim } = nodeWithClaim("node-1", { cpu: "16" });
    const moved = shrinking("3");
    const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: [moved] }, { excludeNodes: new Set(["node-1"]), extraPods: [moved] });
    expect(plan.newNodeClaims.map(({ requests }) => requests["cpu"])).toEqual(["3"]);
  });

  it("a DaemonSet's template with a limit and no request keeps room for the limit", () => {
    const agent = daemonSet("agent", {}, { containers: [{ name: "main", resources: { limits: { memory: "4Gi" } } }] });
    const plan = planFor({ daemonSets: [agent], pods: [pod("app", { memory: "6Gi" })] });
    expect(plan.newNodeClaims.map(({ instanceTypes }) => instanceTypes.includes("m.small"))).toEqual([false]);
  });
});
