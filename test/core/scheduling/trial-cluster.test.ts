import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { TrialCluster } from "#core/scheduling/trial-cluster.ts";
import { boundPod, nodePool, nodeWithClaim, pod, type Scenario, snapshotOf } from "../../support/scheduling/builders.ts";
import { rearranged } from "../../support/scheduling/rearranged.ts";

const HOST = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

type NodeParts = NonNullable<Parameters<typeof nodeWithClaim>[1]>;

/** Nodes by name, with 4 cores each unless they say otherwise, and pods, all of which may move. */
interface Cluster {
  readonly nodes: Readonly<Record<string, NodeParts>>;
  readonly pods: readonly Pod[];
  readonly closed?: readonly string[];
  readonly more?: Partial<Scenario>;
}

function trialOnce({ nodes, pods, closed, more }: Cluster, staying: readonly string[] = []): TrialCluster {
  const joined = Object.entries(nodes).map(([name, parts]) => nodeWithClaim(name, parts));
  const snapshot = snapshotOf({ nodes: joined.map(({ node }) => node), nodeClaims: joined.map(({ claim }) => claim), pods, ...more });
  return rearranged(snapshot, closed, staying);
}

const labels = { app: "web" };
const selector = { matchLabels: labels };
const apart = (topologyKey: string): PodSpec => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: selector, topologyKey }] } },
});
const beside = (topologyKey: string): PodSpec => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: selector, topologyKey }] } },
});
const spread = (topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway" = "DoNotSchedule"): PodSpec => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: selector }],
});
const port = (hostPort: number): PodSpec => ({
  containers: [{ name: "main", resources: { requests: { cpu: "1" } }, ports: [{ hostPort, containerPort: hostPort }] }],
});
const mounts = (claimName: string): PodSpec => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });
const CPU = { cpu: "1" };
const TAINT = { key: "dedicated", value: "gpu", effect: "NoSchedule" as const };
const DISKS: Partial<Scenario> = {
  persistentVolumeClaims: ["one", "two"].map((name) => ({ metadata: { name, namespace: "default" }, spec: { storageClassName: "ebs" } })),
  storageClasses: [{ metadata: { name: "ebs" }, provisioner: "ebs.csi.aws.com", volumeBindingMode: "WaitForFirstConsumer" }],
  csiNodes: [{ metadata: { name: "b" }, spec: { drivers: [{ name: "ebs.csi.aws.com", allocatable: { count: 1 } }] } }],
};

/** Whether node "a" with pod "p" can be removed; "b" is the only other node. */
interface Row {
  readonly name: string;
  readonly p: Pod;
  readonly a?: NodeParts;
  readonly b?: NodeParts;
  readonly others?: readonly Pod[];
  readonly closed?: readonly string[];
  readonly more?: Partial<Scenario>;
  readonly isRemovable: boolean;
}

const p = (spec: PodSpec = {}, requests: Record<string, string> = CPU) => boundPod("p", "a", requests, spec, { labels });
const onB = (spec: PodSpec = {}, requests: Record<string, string> = CPU) => boundPod("q", "b", requests, spec, { labels });

describe("a removed node's pod moves only to a node that may take it", () => {
  it.for<Row>([
    { name: "a pod without constraints, a node with room", p: p(), isRemovable: true },
    { name: "a closed node", p: p(), closed: ["b"], isRemovable: false },
    { name: "a taint that the pod does not tolerate", p: p(), b: { taints: [TAINT] }, isRemovable: false },
    {
      name: "a taint that the pod tolerates",
      p: p({ tolerations: [{ ...TAINT, operator: "Equal" }] }),
      b: { taints: [TAINT] },
      isRemovable: true,
    },
    { name: "a node without the selected label", p: p({ nodeSelector: { disk: "ssd" } }), isRemovable: false },
    { name: "a node with the selected label", p: p({ nodeSelector: { disk: "ssd" } }), b: { labels: { disk: "ssd" } }, isRemovable: true },
    { name: "too few cores left", p: p({}, { cpu: "2" }), others: [onB({}, { cpu: "3" })], isRemovable: false },
    { name: "just enough cores left", p: p({}, { cpu: "1" }), others: [onB({}, { cpu: "3" })], isRemovable: true },
    { name: "too little memory left", p: p({}, { memory: "9Gi" }), others: [onB({}, { memory: "8Gi" })], isRemovable: false },
    { name: "the pod's host port is taken", p: p(port(80)), others: [onB(port(80))], isRemovable: false },
    { name: "another host port is taken", p: p(port(80)), others: [onB(port(81))], isRemovable: true },
    { name: "the CSI driver attaches no more volumes", p: p(mounts("one")), others: [onB(mounts("two"))], more: DISKS, isRemovable: false },
    { name: "the CSI driver attaches one more volume", p: p(mounts("one")), others: [onB()], more: DISKS, isRemovable: true },
    { name: "the pod's volume is attached already", p: p(mounts("one")), others: [onB(mounts("one"))], more: DISKS, isRemovable: true },
    { name: "a spread over hosts, and a matching pod there", p: p(spread(HOST)), others: [onB(spread(HOST))], isRemovable: false },
    {
      name: "a spread over zones, and a node of another zone",
      p: p(spread(ZONE)),
      others: [onB()],
      b: { labels: { [ZONE]: "zone-b" } },
      isRemovable: false,
    },
    { name: "a spread over zones, and a node of the same zone", p: p(spread(ZONE)), isRemovable: true },
    { name: "anti-affinity of the pod, and a matching pod there", p: p(apart(HOST)), others: [onB()], isRemovable: false },
    { name: "anti-affinity of a pod there that selects the pod", p: p(), others: [onB(apart(HOST))], isRemovable: false },
    {
      name: "anti-affinity of the pod, and no matching pod there",
      p: p(apart(HOST)),
      others: [boundPod("q", "b", CPU, {}, { labels: { app: "db" } })],
      isRemovable: true,
    },
    { name: "affinity of the pod, and a matching pod there", p: p(beside(HOST)), others: [onB()], isRemovable: true },
    {
      name: "affinity of the pod, and no matching pod there",
      p: boundPod("p", "a", CPU, beside(HOST), { labels: { app: "db" } }),
      others: [boundPod("q", "b", CPU, {}, { labels: { app: "cache" } })],
      isRemovable: false,
    },
  ])(
    "a node with one other node to move its pod to ($name) is removable: $isRemovable",
    ({ p: moving, a = {}, b = {}, others = [], closed = [], more = {}, isRemovable }) => {
      const trialCluster = trialOnce({ nodes: { a, b }, pods: [moving, ...others], closed, more });
      expect(trialCluster.tryEmpty("a")).toBe(isRemovable);
      const together = trialOnce({ nodes: { a, b }, pods: [moving, ...others], closed, more });
      expect(together.tryEmptyTogether(["a"])).toBe(isRemovable);
    },
  );

  it("a removed node takes no pods", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [boundPod("p", "a"), boundPod("q", "b")] });
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
  });

  it("anti-affinity holds among moved pods too", () => {
    const web = (name: string, node: string) => boundPod(name, node, CPU, apart(HOST), { labels });
    const nodes = { a: {}, b: {}, c: {} };
    const trialCluster = trialOnce({ nodes, pods: [web("p", "a"), web("q", "b")] });
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
  });

  it("pods of nodes that stay keep their room", () => {
    const pods = [boundPod("p", "a", { cpu: "2" }), boundPod("q", "b", { cpu: "3" })];
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods }, ["b"]).tryEmpty("a")).toBe(false);
  });

  it("an unknown node cannot be emptied, and removing it costs nothing", () => {
    const trialCluster = trialOnce({ nodes: { a: {} }, pods: [] });
    expect(trialCluster.tryEmpty("nowhere")).toBe(false);
    expect(trialCluster.costOfRemoving(["nowhere"])).toEqual({ unplaced: [], newNodes: 0, cost: 0, price: 0 });
  });
});

describe("pending pods of a trial cluster", () => {
  const waiting = pod("w", { cpu: "3" });

  it("pending pods keep the room that they take", () => {
    const pods = [boundPod("p", "a", { cpu: "2" }), boundPod("q", "b")];
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods }).tryEmpty("a")).toBe(true);
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods: [...pods, waiting] }).tryEmpty("a")).toBe(false);
  });

  it("a pending pod on a removed node must find another node", () => {
    const pods = [boundPod("p", "a"), boundPod("q", "b", { cpu: "2" })];
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [...pods, waiting] });
    expect(trialCluster.tryEmpty("a")).toBe(false);
    expect(trialCluster.costOfRemoving(["a"]).newNodes).toBe(1);
  });
});

describe("several nodes removed at once", () => {
  /** One after another, the small pod takes the room in which alone the large one fits. */
  const nodes = { a: {}, b: {}, c: {}, d: {} };
  const pods = [
    boundPod("small", "a", { cpu: "1" }),
    boundPod("large", "b", { cpu: "3" }),
    boundPod("c", "c", { cpu: "1" }),
    boundPod("d", "d", { cpu: "3" }),
  ];

  it("removing nodes at once places the largest pods first, and so succeeds where one after another fails", () => {
    const trialCluster = trialOnce({ nodes, pods });
    trialCluster.preferNodes(["c", "d"]);
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
    const together = trialOnce({ nodes, pods });
    together.preferNodes(["c", "d"]);
    expect(together.tryEmptyTogether(["a", "b"])).toBe(true);
    expect(together.tryEmpty("c")).toBe(false);
  });

  it("removing nodes at once changes nothing when one pod finds no node", () => {
    const trialCluster = trialOnce({ nodes, pods });
    expect(trialCluster.tryEmptyTogether(["a", "b", "c"])).toBe(false);
    expect(trialCluster.tryEmptyTogether(["a", "b"])).toBe(true);
  });

  it("pods try preferred nodes in the given order", () => {
    const free = { nodes: { a: {}, b: {}, c: {} }, pods: [boundPod("p", "a", { cpu: "2" }), boundPod("q", "c", { cpu: "3" })] };
    const toB = trialOnce(free);
    expect(toB.tryEmpty("a") && toB.tryEmpty("c")).toBe(false);
    const last = trialOnce({ ...free, pods: [boundPod("p", "a"), boundPod("q", "c", { cpu: "3" })] });
    last.preferNodes(["c", "b"]);
    expect(last.tryEmpty("a") && last.tryEmpty("c")).toBe(true);
  });
});

describe("the cost of removing nodes", () => {
  const onDemand = [nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] })];
  const costOfRemoving = (pods: readonly Pod[], names: readonly string[], nodes: Cluster["nodes"] = { a: {} }) => {
    const { unplaced, ...rest } = trialOnce({ nodes, pods, more: { nodePools: onDemand } }).costOfRemoving(names);
    return { ...rest, unplaced: unplaced.map(podKey) };
  };

  it.for([
    { name: "nothing when other nodes have room", pods: [boundPod("p", "a")], nodes: { a: {}, b: {} }, want: { newNodes: 0, price: 0 } },
    { name: "one node of the cheapest type with room", pods: [boundPod("p", "a")], nodes: { a: {} }, want: { newNodes: 1, price: 0.1 } },
    {
      name: "one node for two pods that fit together",
      pods: [boundPod("p", "a"), boundPod("q", "a", { cpu: "500m" })],
      nodes: { a: {} },
      want: { newNodes: 1, price: 0.1 },
    },
    {
      name: "two nodes for pods with anti-affinity",
      pods: ["p", "q"].map((name) => boundPod(name, "a", CPU, apart(HOST), { labels })),
      nodes: { a: {} },
      want: { newNodes: 2, price: 0.2 },
    },
  ])("the cost of removing a node is $name", ({ pods, nodes, want }) => {
    const found = costOfRemoving(pods, ["a"], nodes);
    expect(found).toMatchObject({ newNodes: want.newNodes, unplaced: [] });
    expect(found.price).toBeCloseTo(want.price, 9);
  });

  it("the cost lists pods that neither a node nor a pool takes", () => {
    const odd = boundPod("odd", "a", CPU, { nodeSelector: { disk: "ssd" } });
    expect(costOfRemoving([odd, boundPod("p", "a")], ["a"], { a: {}, b: {} })).toMatchObject({ unplaced: ["default/odd"], newNodes: 0 });
  });

  it("a preference is not relaxed for an existing node when a new node would meet it", () => {
    const preference: PodSpec = {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] } },
          ],
        },
      },
    };
    const pods = [boundPod("p", "a", CPU, preference)];
    expect(costOfRemoving(pods, ["a"], { a: {}, b: {} })).toMatchObject({ newNodes: 1, unplaced: [] });
  });
});

describe("revertTo", () => {
  /** "p" of node "a" moves to "b" and back; then "q" of node "c" can move there, and after that "p" cannot. */
  const nodes = { a: {}, b: {}, c: {} };

  it.for<{ readonly name: string; readonly p: Pod; readonly q: Pod; readonly more?: Partial<Scenario> }>([
    { name: "room", p: p({}, { cpu: "2" }), q: boundPod("q", "c", { cpu: "3" }) },
    { name: "host ports", p: p(port(80)), q: boundPod("q", "c", CPU, port(80)) },
    { name: "volumes", p: p(mounts("one")), q: boundPod("q", "c", CPU, mounts("two")), more: DISKS },
    { name: "topology counts", p: p(apart(HOST)), q: boundPod("q", "c", CPU, apart(HOST), { labels }) },
  ])("revertTo frees the $name of reverted moves", ({ p: there, q, more = {} }) => {
    const trialCluster = trialOnce({ nodes, pods: [there, q], closed: ["a"], more });
    const checkpoint = trialCluster.checkpoint;
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("c")]).toEqual([true, false]);
    trialCluster.revertTo(checkpoint);
    expect([trialCluster.tryEmpty("c"), trialCluster.tryEmpty("a")]).toEqual([true, false]);
  });

  it("revertTo does not restore a node that was removed before the checkpoint", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [p()] });
    expect(trialCluster.tryEmpty("b")).toBe(true);
    const checkpoint = trialCluster.checkpoint;
    expect(trialCluster.tryEmpty("b")).toBe(true);
    trialCluster.revertTo(checkpoint);
    expect(trialCluster.tryEmpty("a")).toBe(false);
  });

  it("revertTo moves pods back to their node", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [p()], closed: ["a"] });
    const checkpoint = trialCluster.checkpoint;
    expect(trialCluster.tryEmpty("a")).toBe(true);
    expect(trialCluster.costOfRemoving(["b"]).newNodes).toBe(1);
    trialCluster.revertTo(checkpoint);
    expect(trialCluster.costOfRemoving(["b"]).newNodes).toBe(0);
  });
});

describe("the nodes that suit some pods", () => {
  const tolerant = boundPod("tolerant", "a", { cpu: "4" }, { tolerations: [{ operator: "Exists" }] });
  const plain = boundPod("plain", "c");
  const wishing = boundPod("wishing", "c", CPU, {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
        ],
      },
    },
  });
  const trial = trialOnce({
    nodes: { a: {}, b: { taints: [TAINT] }, c: {}, d: {} },
    pods: [tolerant, plain, wishing],
    closed: ["d"],
  });

  it.for([
    { name: "are all open ones, also full ones", pods: [tolerant], want: ["a", "b", "c"] },
    { name: "are those whose taints each pod tolerates", pods: [tolerant, plain], want: ["a", "c"] },
    { name: "need not meet preferences", pods: [wishing], want: ["a", "c"] },
  ])("$name", ({ pods, want }) => {
    const suits = trial.nodesSuiting(pods);
    expect(["a", "b", "c", "d", "unknown"].filter(suits)).toEqual(want);
    expect(trial.nodesSuiting([...pods].reverse())).toBe(suits);
  });
});
