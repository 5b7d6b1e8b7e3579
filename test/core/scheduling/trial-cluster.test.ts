import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../core/model/pod.ts";
import { podKey } from "../../../core/pods/predicates.ts";
import type { TrialCluster } from "../../../core/scheduling/trial-cluster.ts";
import { boundPod, nodePool, nodeWithClaim, pod, type Scenario, snapshotOf } from "../../support/scheduling/builders.ts";
import { rearranged } from "../../support/scheduling/rearranged.ts";

const HOST = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

type NodeParts = NonNullable<Parameters<typeof nodeWithClaim>[1]>;

/** Nodes by name, 4 cores each, and their pods, all of which may move. */
interface Cluster {
  readonly nodes: Readonly<Record<string, NodeParts>>;
  readonly pods: readonly Pod[];
  readonly closed?: readonly string[];
  readonly more?: Partial<Scenario>;
}

function trialOnce({ nodes, pods, closed, more }: Cluster, staying: readonly string[] = []): TrialCluster {
  const machines = Object.entries(nodes).map(([name, parts]) => nodeWithClaim(name, parts));
  const snapshot = snapshotOf({ nodes: machines.map(({ node }) => node), nodeClaims: machines.map(({ claim }) => claim), pods, ...more });
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

/** Whether node "a", with pod "p", can do without itself: "b" is the only other node unless a row says otherwise. */
interface Row {
  readonly name: string;
  readonly p: Pod;
  readonly a?: NodeParts;
  readonly b?: NodeParts;
  readonly others?: readonly Pod[];
  readonly closed?: readonly string[];
  readonly more?: Partial<Scenario>;
  readonly goes: boolean;
}

const p = (spec: PodSpec = {}, requests: Record<string, string> = CPU) => boundPod("p", "a", requests, spec, { labels });
const onB = (spec: PodSpec = {}, requests: Record<string, string> = CPU) => boundPod("q", "b", requests, spec, { labels });

describe("pods move to nodes that may have them, and to no others", () => {
  it.for<Row>([
    { name: "an ordinary pod to a node with room", p: p(), goes: true },
    { name: "not to a node that is closed", p: p(), closed: ["b"], goes: false },
    { name: "not onto a taint", p: p(), b: { taints: [TAINT] }, goes: false },
    {
      name: "onto a taint that it tolerates",
      p: p({ tolerations: [{ ...TAINT, operator: "Equal" }] }),
      b: { taints: [TAINT] },
      goes: true,
    },
    { name: "not to a node without the label that it selects", p: p({ nodeSelector: { disk: "ssd" } }), goes: false },
    { name: "to a node with it", p: p({ nodeSelector: { disk: "ssd" } }), b: { labels: { disk: "ssd" } }, goes: true },
    { name: "not where too few cores are left", p: p({}, { cpu: "2" }), others: [onB({}, { cpu: "3" })], goes: false },
    { name: "where just enough are", p: p({}, { cpu: "1" }), others: [onB({}, { cpu: "3" })], goes: true },
    { name: "not where too little memory is", p: p({}, { memory: "9Gi" }), others: [onB({}, { memory: "8Gi" })], goes: false },
    { name: "not where its host port is taken", p: p(port(80)), others: [onB(port(80))], goes: false },
    { name: "where another host port is", p: p(port(80)), others: [onB(port(81))], goes: true },
    { name: "not where the driver attaches no more volumes", p: p(mounts("one")), others: [onB(mounts("two"))], more: DISKS, goes: false },
    { name: "where it attaches one more", p: p(mounts("one")), others: [onB()], more: DISKS, goes: true },
    { name: "where its volume is attached already", p: p(mounts("one")), others: [onB(mounts("one"))], more: DISKS, goes: true },
    { name: "not beside one that a spread over hosts keeps away", p: p(spread(HOST)), others: [onB(spread(HOST))], goes: false },
    {
      name: "not out of the zone that a spread wants it in",
      p: p(spread(ZONE)),
      others: [onB()],
      b: { labels: { [ZONE]: "zone-b" } },
      goes: false,
    },
    { name: "within that zone", p: p(spread(ZONE)), goes: true },
    { name: "not beside one that it keeps away from", p: p(apart(HOST)), others: [onB()], goes: false },
    { name: "not beside one that keeps away from it", p: p(), others: [onB(apart(HOST))], goes: false },
    {
      name: "beside one of another kind than it keeps away from",
      p: p(apart(HOST)),
      others: [boundPod("q", "b", CPU, {}, { labels: { app: "db" } })],
      goes: true,
    },
    { name: "to the company that it needs", p: p(beside(HOST)), others: [onB()], goes: true },
    {
      name: "not away from it",
      p: boundPod("p", "a", CPU, beside(HOST), { labels: { app: "db" } }),
      others: [boundPod("q", "b", CPU, {}, { labels: { app: "cache" } })],
      goes: false,
    },
  ])("$name: $goes", ({ p: moving, a = {}, b = {}, others = [], closed = [], more = {}, goes }) => {
    const trialCluster = trialOnce({ nodes: { a, b }, pods: [moving, ...others], closed, more });
    expect(trialCluster.tryEmpty("a")).toBe(goes);
    const together = trialOnce({ nodes: { a, b }, pods: [moving, ...others], closed, more });
    expect(together.tryEmptyTogether(["a"])).toBe(goes);
  });

  it("moves nothing to a node that is gone", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [boundPod("p", "a"), boundPod("q", "b")] });
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
  });

  it("does not put pods that moved where they keep each other away", () => {
    const web = (name: string, node: string) => boundPod(name, node, CPU, apart(HOST), { labels });
    const nodes = { a: {}, b: {}, c: {} };
    const trialCluster = trialOnce({ nodes, pods: [web("p", "a"), web("q", "b")] });
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
  });

  it("takes nodes whose pods stay for what they have left", () => {
    const pods = [boundPod("p", "a", { cpu: "2" }), boundPod("q", "b", { cpu: "3" })];
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods }, ["b"]).tryEmpty("a")).toBe(false);
  });

  it("knows nothing of nodes that do not exist", () => {
    const trialCluster = trialOnce({ nodes: { a: {} }, pods: [] });
    expect(trialCluster.tryEmpty("nowhere")).toBe(false);
    expect(trialCluster.costOfRemoving(["nowhere"])).toEqual({ unplaced: [], newNodes: 0, price: 0 });
  });
});

describe("pods that wait", () => {
  const waiting = pod("w", { cpu: "3" });

  it("keep the room that they will have", () => {
    const pods = [boundPod("p", "a", { cpu: "2" }), boundPod("q", "b")];
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods }).tryEmpty("a")).toBe(true);
    expect(trialOnce({ nodes: { a: {}, b: {} }, pods: [...pods, waiting] }).tryEmpty("a")).toBe(false);
  });

  it("must find another place when they were to go to the node that goes", () => {
    const pods = [boundPod("p", "a"), boundPod("q", "b", { cpu: "2" })];
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [...pods, waiting] });
    expect(trialCluster.tryEmpty("a")).toBe(false);
    expect(trialCluster.costOfRemoving(["a"]).newNodes).toBe(1);
  });
});

describe("several nodes at once", () => {
  /** One after another, the small pod takes the room in which alone the large one fits. */
  const nodes = { a: {}, b: {}, c: {}, d: {} };
  const pods = [
    boundPod("small", "a", { cpu: "1" }),
    boundPod("large", "b", { cpu: "3" }),
    boundPod("c", "c", { cpu: "1" }),
    boundPod("d", "d", { cpu: "3" }),
  ];

  it("finds places, the largest pods first, where one after another finds none", () => {
    const trialCluster = trialOnce({ nodes, pods });
    trialCluster.preferNodes(["c", "d"]);
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("b")]).toEqual([true, false]);
    const together = trialOnce({ nodes, pods });
    together.preferNodes(["c", "d"]);
    expect(together.tryEmptyTogether(["a", "b"])).toBe(true);
    expect(together.tryEmpty("c")).toBe(false);
  });

  it("changes nothing when one pod finds none", () => {
    const trialCluster = trialOnce({ nodes, pods });
    expect(trialCluster.tryEmptyTogether(["a", "b", "c"])).toBe(false);
    expect(trialCluster.tryEmptyTogether(["a", "b"])).toBe(true);
  });

  it("offers nodes in the order that is asked for", () => {
    const free = { nodes: { a: {}, b: {}, c: {} }, pods: [boundPod("p", "a", { cpu: "2" }), boundPod("q", "c", { cpu: "3" })] };
    const toB = trialOnce(free);
    expect(toB.tryEmpty("a") && toB.tryEmpty("c")).toBe(false);
    const last = trialOnce({ ...free, pods: [boundPod("p", "a"), boundPod("q", "c", { cpu: "3" })] });
    last.preferNodes(["c", "b"]);
    expect(last.tryEmpty("a") && last.tryEmpty("c")).toBe(true);
  });
});

describe("what it would take", () => {
  const onDemand = [nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] })];
  const costOfRemoving = (pods: readonly Pod[], names: readonly string[], nodes: Cluster["nodes"] = { a: {} }) => {
    const { unplaced, ...rest } = trialOnce({ nodes, pods, more: { nodePools: onDemand } }).costOfRemoving(names);
    return { ...rest, unplaced: unplaced.map(podKey) };
  };

  it.for([
    { name: "nothing where other nodes have room", pods: [boundPod("p", "a")], nodes: { a: {}, b: {} }, want: { newNodes: 0, price: 0 } },
    { name: "one node, of the cheapest type that does", pods: [boundPod("p", "a")], nodes: { a: {} }, want: { newNodes: 1, price: 0.1 } },
    {
      name: "one node for neighbours that fit together",
      pods: [boundPod("p", "a"), boundPod("q", "a", { cpu: "500m" })],
      nodes: { a: {} },
      want: { newNodes: 1, price: 0.1 },
    },
    {
      name: "two for those that keep apart",
      pods: ["p", "q"].map((name) => boundPod(name, "a", CPU, apart(HOST), { labels })),
      nodes: { a: {} },
      want: { newNodes: 2, price: 0.2 },
    },
  ])("is $name", ({ pods, nodes, want }) => {
    const found = costOfRemoving(pods, ["a"], nodes);
    expect(found).toMatchObject({ newNodes: want.newNodes, unplaced: [] });
    expect(found.price).toBeCloseTo(want.price, 9);
  });

  it("names pods that neither a node nor a pool takes", () => {
    const odd = boundPod("odd", "a", CPU, { nodeSelector: { disk: "ssd" } });
    expect(costOfRemoving([odd, boundPod("p", "a")], ["a"], { a: {}, b: {} })).toMatchObject({ unplaced: ["default/odd"], newNodes: 0 });
  });

  it("does not give up a wish for a node that is there when a new one would fulfil it", () => {
    const wish: PodSpec = {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] } },
          ],
        },
      },
    };
    const pods = [boundPod("p", "a", CPU, wish)];
    expect(costOfRemoving(pods, ["a"], { a: {}, b: {} })).toMatchObject({ newNodes: 1, unplaced: [] });
  });
});

describe("a step that is taken back", () => {
  /** "p" of node "a" moves to "b" and back; then "q" of node "c" can go there as if nothing had been, and not beside "p". */
  const nodes = { a: {}, b: {}, c: {} };

  it.for<{ readonly name: string; readonly p: Pod; readonly q: Pod; readonly more?: Partial<Scenario> }>([
    { name: "room", p: p({}, { cpu: "2" }), q: boundPod("q", "c", { cpu: "3" }) },
    { name: "host ports", p: p(port(80)), q: boundPod("q", "c", CPU, port(80)) },
    { name: "volumes", p: p(mounts("one")), q: boundPod("q", "c", CPU, mounts("two")), more: DISKS },
    { name: "distance", p: p(apart(HOST)), q: boundPod("q", "c", CPU, apart(HOST), { labels }) },
  ])("gives back the $name that it took", ({ p: there, q, more = {} }) => {
    const trialCluster = trialOnce({ nodes, pods: [there, q], closed: ["a"], more });
    const checkpoint = trialCluster.checkpoint;
    expect([trialCluster.tryEmpty("a"), trialCluster.tryEmpty("c")]).toEqual([true, false]);
    trialCluster.revertTo(checkpoint);
    expect([trialCluster.tryEmpty("c"), trialCluster.tryEmpty("a")]).toEqual([true, false]);
  });

  it("leaves a node gone that was gone before", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [p()] });
    expect(trialCluster.tryEmpty("b")).toBe(true);
    const checkpoint = trialCluster.checkpoint;
    expect(trialCluster.tryEmpty("b")).toBe(true);
    trialCluster.revertTo(checkpoint);
    expect(trialCluster.tryEmpty("a")).toBe(false);
  });

  it("takes its pods along", () => {
    const trialCluster = trialOnce({ nodes: { a: {}, b: {} }, pods: [p()], closed: ["a"] });
    const checkpoint = trialCluster.checkpoint;
    expect(trialCluster.tryEmpty("a")).toBe(true);
    expect(trialCluster.costOfRemoving(["b"]).newNodes).toBe(1);
    trialCluster.revertTo(checkpoint);
    expect(trialCluster.costOfRemoving(["b"]).newNodes).toBe(0);
  });
});
