import { describe, expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { budget, deployment, lab, node, pod, workload } from "./support.ts";

type Lab = ReturnType<typeof lab>;
const pods = ({ world }: Lab): Pod[] => world.store.list("Pod") as unknown as Pod[];
const placed = (l: Lab): Record<string, string> => Object.fromEntries(pods(l).map((p) => [p.metadata.name, p.spec.nodeName ?? "-"]));
const why = (l: Lab, name: string): string | undefined =>
  pods(l)
    .find((p) => p.metadata.name === name)
    ?.status?.conditions?.find((c) => c.type === "PodScheduled")?.message;
const settle = ({ clock }: Lab) => clock.run({ idle: 10_000 });
const zone = (z: string) => ({ labels: { "topology.kubernetes.io/zone": z } });

/** What kube-scheduler adds when preemption helps on none of the nodes. */
const unhelped = (nodes: number) =>
  ` no new claims to deallocate, preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;

describe("scheduler", () => {
  it.for([
    { name: "no node", spec: {}, nodes: [], want: "no nodes available to schedule pods" },
    {
      name: "too little cpu",
      spec: {},
      nodes: [node("n", { cpu: "500m" })],
      want: `0/1 nodes are available: 1 Insufficient cpu.${unhelped(1)}`,
    },
    {
      name: "a taint",
      spec: {},
      nodes: [node("n", { taints: [{ key: "team", value: "a", effect: "NoSchedule" }] })],
      want: `0/1 nodes are available: 1 node(s) had untolerated taint(s).${unhelped(1)}`,
    },
    {
      name: "a selector",
      spec: { nodeSelector: { disk: "ssd" } },
      nodes: [node("n"), node("m", { labels: { disk: "hdd" } })],
      want: `0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.${unhelped(2)}`,
    },
    {
      name: "a missing claim",
      spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] },
      nodes: [node("n")],
      want: '0/1 nodes are available: persistentvolumeclaim "data" not found. not found',
    },
  ])("writes why a pod cannot be scheduled: $name", async ({ spec, nodes, want }) => {
    const l = lab();
    for (const n of nodes) l.world.apply(n);
    l.world.apply(pod("p", spec));
    await settle(l);
    expect(why(l, "p")).toBe(want);
  });

  it("writes the condition of a pod once, and not again while nothing changes", async () => {
    const l = lab();
    let marks = 0;
    l.world.onChange(({ kind, subresource }) => {
      if (kind === "Pod" && subresource === "status") marks++;
    });
    l.world.apply(pod("p"));
    await settle(l);
    l.world.apply(node("n", { labels: { a: "b" }, cpu: "0" }));
    await settle(l);
    l.world.apply(pod("q"));
    await settle(l);
    expect(marks).toBe(3);
  });

  it("binds pods by tolerations, affinity, free ports and room, never beyond allocatable", async () => {
    const l = lab();
    l.world.apply(node("plain", { cpu: "2" }));
    l.world.apply(node("tainted", { cpu: "2", taints: [{ key: "gpu", effect: "NoSchedule" }], labels: { gen: "5" } }));
    l.world.apply(pod("tolerant", { tolerations: [{ key: "gpu", operator: "Exists" }], nodeSelector: { gen: "5" } }));
    const port = { containers: [{ name: "c", ports: [{ hostPort: 80 }] }] };
    l.world.apply(pod("port-1", port));
    l.world.apply(pod("port-2", port));
    for (const name of ["a", "b", "c"]) l.world.apply(pod(name));
    await settle(l);
    expect(placed(l)).toEqual({ tolerant: "tainted", "port-1": "plain", "port-2": "-", a: "plain", b: "plain", c: "-" });
  });

  it("spreads pods over zones within maxSkew", async () => {
    const l = lab();
    l.world.apply(node("a", { cpu: "10", ...zone("z1") }));
    l.world.apply(node("b", { cpu: "2", ...zone("z2") }));
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ];
    l.world.apply(deployment("web", 6, { topologySpreadConstraints }));
    await settle(l);
    const counts = Object.groupBy(pods(l), (p) => p.spec.nodeName ?? "-");
    expect([counts["a"]?.length, counts["b"]?.length, counts["-"]?.length]).toEqual([3, 2, 1]);
  });

  it("separates pods by anti-affinity, in both directions, and joins them by affinity", async () => {
    const l = lab();
    for (const name of ["n1", "n2"]) l.world.apply(node(name, { cpu: "8" }));
    const term = (app: string) => [{ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } }];
    const alone = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term("alone") } } };
    l.world.apply(deployment("alone", 3, alone));
    const friends = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term("friends") } } };
    l.world.apply(deployment("friends", 3, friends));
    await settle(l);
    const nodesOf = (app: string) =>
      pods(l)
        .filter((p) => p.metadata.labels?.["app"] === app)
        .map((p) => p.spec.nodeName ?? "-");
    expect(nodesOf("alone").sort()).toEqual(["-", "n1", "n2"]);
    expect(new Set(nodesOf("friends")).size).toBe(1);
  });

  it("binds a volume in the zone of its first consumer, and the next pod follows it", async () => {
    const l = lab();
    l.world.apply(node("a", zone("z1")));
    const sc = {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "gp3" },
      provisioner: "ebs.csi.aws.com",
      volumeBindingMode: "WaitForFirstConsumer",
    };
    l.world.apply(sc);
    l.world.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec: { storageClassName: "gp3" } });
    const spec = { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };
    l.world.apply(pod("first", spec));
    await settle(l);
    expect(placed(l)).toEqual({ first: "a" });
    expect(l.world.store.list("VolumeAttachment")).toHaveLength(1);
    l.world.delete("Pod", "first", "default");
    l.world.delete("Node", "a");
    l.world.apply(node("b", zone("z2")));
    l.world.apply(pod("second", spec));
    await settle(l);
    expect(why(l, "second")).toContain("node(s) didn't match PersistentVolume's node affinity");
    expect(l.world.store.list("VolumeAttachment")).toHaveLength(0);
  });

  it("puts no more volumes on a node than its CSINode allows; pods that share one count once", async () => {
    const l = lab();
    const driver = "ebs.csi.aws.com";
    l.world.apply(node("n", zone("z1")));
    const drivers = [{ name: driver, nodeID: "i-1", allocatable: { count: 1 } }];
    l.world.apply({ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: "n" }, spec: { drivers } });
    const mode = "WaitForFirstConsumer";
    const gp3 = { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name: "gp3" } };
    l.world.apply({ ...gp3, provisioner: driver, volumeBindingMode: mode });
    for (const name of ["a", "b"])
      l.world.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec: { storageClassName: "gp3" } });
    const using = (claimName: string) => ({ volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] });
    l.world.apply(pod("first", using("a")));
    await settle(l);
    l.world.apply(pod("shares", using("a")));
    l.world.apply(pod("second", using("b")));
    await settle(l);
    expect(placed(l)).toEqual({ first: "n", shares: "n", second: "-" });
    expect(why(l, "second")).toContain("node(s) exceed max volume count");
  });
});

describe("scores of the scheduler", () => {
  const big = (name: string, labels: Record<string, string> = {}) => node(name, { cpu: "16", labels });
  const small = (name: string, labels: Record<string, string> = {}) => node(name, { cpu: "4", labels });
  const zoned = (z: string, more: Record<string, string> = {}) => ({ ...zone(z).labels, ...more });
  const onNodes = (l: Lab, app: string): string[] =>
    pods(l)
      .filter((p) => p.metadata.labels?.["app"] === app)
      .map((p) => p.spec.nodeName ?? "-")
      .sort();
  const selector = (app: string) => ({ labelSelector: { matchLabels: { app } } });
  const weighted = (weight: number, app: string, topologyKey = "topology.kubernetes.io/zone") => ({
    weight,
    podAffinityTerm: { topologyKey, ...selector(app) },
  });
  const prefer = (weight: number, key: string) => ({ weight, preference: { matchExpressions: [{ key, operator: "Exists" }] } });
  const nodeAffinity = (...terms: object[]) => ({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } } });

  it.for([
    { rule: "the emptier of two nodes", nodes: [small("full"), big("empty")], spec: {}, want: "empty" },
    {
      rule: "a node that a PreferNoSchedule taint does not mark, although it is fuller",
      nodes: [small("plain"), node("soft", { cpu: "16", taints: [{ key: "old", effect: "PreferNoSchedule" }] })],
      spec: {},
      want: "plain",
    },
    {
      rule: "the emptier node when it tolerates the PreferNoSchedule taint",
      nodes: [small("plain"), node("soft", { cpu: "16", taints: [{ key: "old", effect: "PreferNoSchedule" }] })],
      spec: { tolerations: [{ key: "old", operator: "Exists" }] },
      want: "soft",
    },
    {
      rule: "the node with the higher sum of the weights of preferred node affinity",
      nodes: [big("a", { x: "1", y: "1" }), small("b", { z: "1" })],
      spec: nodeAffinity(prefer(30, "x"), prefer(30, "y"), prefer(100, "z")),
      want: "b",
    },
    {
      rule: "an unmarked node over a preferred one with a soft taint, because taints weigh 3 and node affinity 2",
      nodes: [small("plain"), node("soft", { cpu: "4", labels: { x: "1" }, taints: [{ key: "old", effect: "PreferNoSchedule" }] })],
      spec: nodeAffinity(prefer(100, "x")),
      want: "plain",
    },
  ])("choose $rule", async ({ nodes, spec, want }) => {
    const l = lab();
    for (const n of nodes) l.world.apply(n);
    l.world.apply(pod("p", spec));
    await settle(l);
    expect(placed(l)).toEqual({ p: want });
  });

  it("spread pods softly over zones, beyond maxSkew when one zone is full", async () => {
    const l = lab();
    l.world.apply(big("a", zoned("z1")));
    l.world.apply(small("b", zoned("z2")));
    const soft = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway", ...selector("web") };
    l.world.apply(deployment("web", 6, { topologySpreadConstraints: [soft] }));
    await settle(l);
    expect(onNodes(l, "web")).toEqual(["a", "a", "a", "b", "b", "b"]);
    l.world.scale("Deployment", "default", "web", 10);
    await settle(l);
    expect(onNodes(l, "web")).toEqual([...Array(6).fill("a"), ...Array(4).fill("b")]);
  });

  it("spread the pods of a ReplicaSet over nodes and zones by default, and those without an owner not", async () => {
    const l = lab();
    l.world.apply(big("a", zoned("z1")));
    l.world.apply(small("b", zoned("z2")));
    l.world.apply(deployment("web", 4));
    await settle(l);
    expect(onNodes(l, "web")).toEqual(["a", "a", "b", "b"]);
    const m = lab();
    m.world.apply(big("a", zoned("z1")));
    m.world.apply(small("b", zoned("z2")));
    for (const name of ["p", "q", "r", "s"]) m.world.apply(pod(name, {}, { app: "web" }));
    await settle(m);
    expect(onNodes(m, "web")).toEqual(["a", "a", "a", "a"]);
  });

  it("spread the pods that a Service selects by default", async () => {
    const l = lab();
    l.world.apply(big("a", zoned("z1")));
    l.world.apply(small("b", zoned("z2")));
    l.world.apply({ apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { selector: { app: "web" } } });
    for (const name of ["p", "q"]) l.world.apply(pod(name, {}, { app: "web" }));
    await settle(l);
    expect(onNodes(l, "web")).toEqual(["a", "b"]);
  });

  it("join and separate pods by preferred affinity between pods, by its weight and in both directions", async () => {
    const l = lab();
    l.world.apply(big("a", zoned("z1")));
    l.world.apply(small("b", zoned("z2")));
    l.world.apply(pod("cache", { nodeSelector: { "kubernetes.io/hostname": "b" } }, { app: "cache" }));
    await settle(l);
    const affinity = (towards: object[], away: object[] = []) => ({
      affinity: {
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: towards },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: away },
      },
    });
    l.world.apply(pod("friend", affinity([weighted(10, "cache")])));
    l.world.apply(pod("torn", affinity([weighted(10, "cache")], [weighted(20, "cache")])));
    l.world.apply(pod("shy", { ...affinity([], [weighted(50, "loud")]), nodeSelector: { "kubernetes.io/hostname": "a" } }));
    await settle(l);
    l.world.apply(pod("loud", {}, { app: "loud" }));
    await settle(l);
    expect(placed(l)).toEqual({ cache: "b", friend: "b", torn: "a", shy: "a", loud: "b" });
  });

  it("prefer the node whose cpu and memory the pod balances when their free shares are equal", async () => {
    const l = lab();
    for (const name of ["cpu-used", "memory-used"]) l.world.apply(node(name, { cpu: "16" }));
    const uses = (cpu: string, memory: string, name: string) => ({
      nodeSelector: name === "" ? {} : { "kubernetes.io/hostname": name },
      containers: [{ name: "c", resources: { requests: { cpu, memory } } }],
    });
    l.world.apply(pod("x", uses("8", "1Gi", "cpu-used")));
    l.world.apply(pod("y", uses("1", "8Gi", "memory-used")));
    await settle(l);
    l.world.apply(pod("p", uses("4", "1Gi", "")));
    await settle(l);
    expect(placed(l)["p"]).toBe("memory-used");
  });

  it.for([
    ["a", "b"],
    ["b", "a"],
  ] as const)("count a pod without requests as 100m of cpu: with one on %s, the next one is placed on %s", async ([taken, want]) => {
    const l = lab();
    for (const name of ["a", "b"]) l.world.apply(node(name, { cpu: "1" }));
    const nothing = { containers: [{ name: "c" }] };
    l.world.apply(pod("first", { ...nothing, nodeSelector: { "kubernetes.io/hostname": taken } }));
    await settle(l);
    l.world.apply(pod("p", nothing));
    await settle(l);
    expect(placed(l)["p"]).toBe(want);
  });

  it("break ties by the seed, the same way for the same seed", async () => {
    const play = async (seed: number) => {
      const l = lab(seed);
      for (const name of ["a", "b", "c"]) l.world.apply(node(name));
      l.world.apply(pod("p"));
      await settle(l);
      return placed(l)["p"];
    };
    const seen = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(play));
    expect(await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(play))).toEqual(seen);
    expect(new Set(seen).size).toBeGreaterThan(1);
  });
});

describe("preemption", () => {
  const priority = (name: string, value: number, more: object = {}) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    ...more,
  });
  const classes = (l: Lab) => {
    for (const [name, value] of Object.entries({ high: 1_000, low: -10, lower: -20 })) l.world.apply(priority(name, value));
  };
  const cpu = (amount: string) => ({ containers: [{ name: "c", resources: { requests: { cpu: amount } } }] });
  const as = (priorityClassName: string, more: object = {}) => ({ priorityClassName, ...more });
  const on = (name: string, more: object = {}) => ({ nodeSelector: { "kubernetes.io/hostname": name }, ...more });
  const status = (l: Lab, name: string) => pods(l).find((p) => p.metadata.name === name)?.status;
  const names = (l: Lab) =>
    pods(l)
      .map((p) => p.metadata.name)
      .sort();

  it("deletes pods of lower priority with grace, and the pod waits on its nominated node until they are gone", async () => {
    const l = lab();
    classes(l);
    l.world.apply(node("n", { cpu: "2" }));
    l.world.apply(deployment("paused", 2, as("low")));
    await settle(l);
    l.world.apply(pod("web", as("high")));
    await l.clock.run({ until: l.clock.now() + 500 });
    const leaving = pods(l).filter((p) => p.metadata.deletionTimestamp !== undefined);
    expect(leaving.map((p) => p.status?.conditions?.find((c) => c.type === "DisruptionTarget")?.reason)).toEqual(["PreemptionByScheduler"]);
    expect(leaving[0]?.metadata.deletionGracePeriodSeconds).toBe(30);
    expect(status(l, "web")?.nominatedNodeName).toBe("n");
    expect(placed(l)["web"]).toBe("-");
    await settle(l);
    expect(placed(l)["web"]).toBe("n");
    expect(status(l, "web")?.nominatedNodeName).toBeUndefined();
    const paused = pods(l).filter((p) => p.metadata.labels?.["app"] === "paused");
    expect(paused.map((p) => p.spec.nodeName ?? "-").sort()).toEqual(["-", "n"]);
  });

  it("keeps the freed room for the nominated pod against pods of lower priority", async () => {
    const l = lab();
    classes(l);
    l.world.apply(node("n", { cpu: "2" }));
    l.world.apply(pod("old", as("lower", cpu("2"))));
    await settle(l);
    l.world.apply(pod("web", as("high", cpu("2"))));
    await l.clock.run({ until: l.clock.now() + 500 });
    l.world.apply(pod("late", as("low", cpu("1"))));
    await settle(l);
    expect(placed(l)).toEqual({ web: "n", late: "-" });
  });

  it.for([
    { rule: "preemptionPolicy Never", of: priority("polite", 1_000, { preemptionPolicy: "Never" }) },
    { rule: "the same priority", of: priority("polite", -10) },
  ])("is not for a pod with $rule", async ({ of }) => {
    const l = lab();
    classes(l);
    l.world.apply(of);
    l.world.apply(node("n", { cpu: "1" }));
    l.world.apply(pod("first", as("low")));
    await settle(l);
    l.world.apply(pod("second", as("polite")));
    await settle(l);
    expect(placed(l)).toEqual({ first: "n", second: "-" });
    expect(status(l, "second")?.nominatedNodeName).toBeUndefined();
  });

  it("is not for a pod that no node fits even when it is empty", async () => {
    const l = lab();
    classes(l);
    l.world.apply(node("n", { cpu: "1" }));
    l.world.apply(pod("first", as("low")));
    await settle(l);
    l.world.apply(pod("huge", as("high", cpu("2"))));
    l.world.apply(pod("elsewhere", as("high", { nodeSelector: { disk: "ssd" } })));
    await settle(l);
    expect(placed(l)).toEqual({ first: "n", huge: "-", elsewhere: "-" });
  });

  it("takes the priority of the global default class for pods that name no class", async () => {
    const l = lab();
    l.world.apply(priority("usual", 500, { globalDefault: true }));
    l.world.apply(priority("low", 100));
    l.world.apply(node("n", { cpu: "1" }));
    l.world.apply(pod("first", as("low")));
    await settle(l);
    l.world.apply(pod("second"));
    await settle(l);
    expect(placed(l)).toEqual({ second: "n" });
    expect(pods(l)[0]?.spec).toMatchObject({ priority: 500, priorityClassName: "usual" });
  });

  it.for([
    {
      rule: "whose victims no PodDisruptionBudget protects, although their priority is higher",
      a: [["a1", "lower", "1", { app: "guarded" }]],
      b: [["b1", "low", "1"]],
      gone: ["b1"],
    },
    { rule: "whose most important victim is less important", a: [["a1", "low", "1"]], b: [["b1", "lower", "1"]], gone: ["b1"] },
    {
      rule: "with the smaller sum of priorities, which negative priorities do not turn around",
      a: [
        ["a1", "low", "500m"],
        ["a2", "low", "500m"],
      ],
      b: [
        ["b1", "low", "500m"],
        ["b2", "lower", "500m"],
      ],
      gone: ["b1", "b2"],
    },
    {
      rule: "with fewer victims",
      a: [
        ["a1", "low", "500m"],
        ["a2", "low", "500m"],
      ],
      b: [["b1", "low", "1"]],
      gone: ["b1"],
    },
  ] as const)("chooses the node $rule", async ({ a, b, gone }) => {
    const l = lab();
    classes(l);
    for (const name of ["a", "b"]) l.world.apply(node(name, { cpu: "1" }));
    l.world.apply(budget("guard", "guarded", { maxUnavailable: 0 }));
    const all = [...a.map((p) => ["a", ...p] as const), ...b.map((p) => ["b", ...p] as const)];
    for (const [host, name, of, amount, labels] of all) l.world.apply(pod(name, as(of, on(host, cpu(amount))), labels));
    await settle(l);
    const before = names(l);
    l.world.apply(pod("web", as("high", cpu("1"))));
    await settle(l);
    expect(before.filter((name) => !names(l).includes(name))).toEqual(gone);
  });

  it("chooses the node whose victims started last", async () => {
    const l = lab();
    classes(l);
    for (const [name, host] of [
      ["early", "b"],
      ["late", "a"],
    ] as const) {
      l.world.apply(node(host, { cpu: "1" }));
      l.world.apply(pod(name, as("low", on(host))));
      await settle(l);
      await l.clock.run({ until: l.clock.now() + 60_000 });
    }
    l.world.apply(pod("web", as("high")));
    await settle(l);
    expect(placed(l)).toEqual({ early: "b", web: "a" });
  });

  it("gives up a nominated node that is tainted before the victims are gone, and preempts on another one", async () => {
    const l = lab();
    classes(l);
    for (const name of ["n", "m"]) l.world.apply(node(name, { cpu: "1" }));
    const slow = pod("slow", as("lower", on("n")));
    l.world.apply({ ...slow, metadata: { ...slow.metadata, annotations: { "testcluster/stop-after": "60s" } } });
    l.world.apply(pod("other", as("low", on("m"))));
    await settle(l);
    l.world.apply(pod("web", as("high")));
    await l.clock.run({ until: l.clock.now() + 500 });
    expect(status(l, "web")?.nominatedNodeName).toBe("n");
    l.world.apply(node("n", { cpu: "1", taints: [{ key: "closed", effect: "NoSchedule" }] }));
    await l.clock.run({ until: l.clock.now() + 5_000 });
    expect(placed(l)).toEqual({ slow: "n", web: "m" });
  });

  it("spares the more important pods of a node when the others make room enough", async () => {
    const l = lab();
    classes(l);
    l.world.apply(node("n", { cpu: "3" }));
    for (const [name, of] of Object.entries({ a: "low", b: "lower", c: "low" })) l.world.apply(pod(name, as(of)));
    await settle(l);
    l.world.apply(pod("web", as("high")));
    await settle(l);
    expect(names(l)).toEqual(["a", "c", "web"]);
  });

  it("resolves the anti-affinity of a victim", async () => {
    const l = lab();
    classes(l);
    l.world.apply(node("n", { cpu: "4" }));
    const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "web" } } };
    const alone = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    l.world.apply(pod("shy", as("low", alone)));
    l.world.apply(pod("other", as("low")));
    await settle(l);
    l.world.apply(pod("web", as("high"), { app: "web" }));
    await settle(l);
    expect(placed(l)).toEqual({ other: "n", web: "n" });
  });
});

describe("workloads", () => {
  it("keep the replicas of a Deployment, replace lost pods, and scale to zero", async () => {
    const l = lab();
    l.world.apply(node("n", { cpu: "10" }));
    l.world.apply(deployment("web", 3));
    await settle(l);
    expect(pods(l).map((p) => p.status?.phase)).toEqual(["Running", "Running", "Running"]);
    l.world.delete("Pod", pods(l)[0]?.metadata.name ?? "", "default");
    await settle(l);
    expect(pods(l)).toHaveLength(3);
    l.world.scale("Deployment", "default", "web", 0);
    await settle(l);
    expect(pods(l)).toHaveLength(0);
    expect(() => l.world.scale("Deployment", "default", "nope", 1)).toThrow('there is no Deployment "nope" in namespace "default"');
  });

  it("roll out a changed template until only new pods are left", async () => {
    const l = lab();
    l.world.apply(node("n", { cpu: "10" }));
    l.world.apply(deployment("web", 4));
    await settle(l);
    const before = new Set(pods(l).map((p) => p.metadata.name));
    l.world.apply(deployment("web", 4, { priority: 5 }));
    await settle(l);
    expect(pods(l)).toHaveLength(4);
    expect(pods(l).some((p) => before.has(p.metadata.name))).toBe(false);
  });

  it("delete the ReplicaSets and pods of a deleted Deployment", async () => {
    const l = lab();
    l.world.apply(node("n", { cpu: "10" }));
    l.world.apply(deployment("web", 2));
    await settle(l);
    l.world.delete("Deployment", "web", "default");
    await settle(l);
    expect([...l.world.store.list("ReplicaSet"), ...pods(l)]).toEqual([]);
  });

  it("run one pod of a DaemonSet on each node that it selects and tolerates", async () => {
    const l = lab();
    l.world.apply(node("a"));
    l.world.apply(node("b", { taints: [{ key: "x", effect: "NoExecute" }] }));
    l.world.apply(node("c", { labels: { role: "none" } }));
    const notNone = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "role", operator: "NotIn", values: ["none"] }] }],
        },
      },
    };
    l.world.apply(workload("DaemonSet", "agent", {}, { affinity: notNone }));
    await settle(l);
    expect(Object.values(placed(l))).toEqual(["a"]);
    l.world.apply(workload("DaemonSet", "all", {}, { tolerations: [{ operator: "Exists" }] }));
    await settle(l);
    expect(Object.values(placed(l)).sort()).toEqual(["a", "a", "b", "c"]);
  });

  it("start a StatefulSet in order, with its volumes, and complete a Job", async () => {
    const l = lab();
    l.world.apply(node("n", { cpu: "10", ...zone("us-west-2a") }));
    l.world.apply({
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "gp3", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      volumeBindingMode: "Immediate",
    });
    l.world.apply(workload("StatefulSet", "db", { replicas: 2, volumeClaimTemplates: [{ metadata: { name: "data" }, spec: {} }] }));
    l.world.apply(workload("Job", "once", { completions: 2, parallelism: 1 }));
    await l.clock.run({ until: l.clock.now() + 180_000 });
    expect(
      pods(l)
        .filter((p) => p.metadata.name.startsWith("db-"))
        .map((p) => [p.metadata.name, p.status?.phase]),
    ).toEqual([
      ["db-0", "Running"],
      ["db-1", "Running"],
    ]);
    expect(l.world.store.list("PersistentVolumeClaim").map((c) => c.metadata.name)).toEqual(["data-db-0", "data-db-1"]);
    expect(
      pods(l)
        .filter((p) => p.metadata.name.startsWith("once"))
        .map((p) => p.status?.phase),
    ).toEqual(["Succeeded", "Succeeded"]);
  });
});

describe("nodes", () => {
  it("evict the pods that do not tolerate a NoExecute taint", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(pod("leaves"));
    l.world.apply(pod("waits", { tolerations: [{ key: "bad", operator: "Exists", tolerationSeconds: 60 }] }));
    await settle(l);
    l.world.apply(node("n", { taints: [{ key: "bad", effect: "NoExecute" }] }));
    await settle(l);
    expect(Object.keys(placed(l))).toEqual(["waits"]);
    await l.clock.run({ until: l.clock.now() + 60_000 });
    expect(placed(l)).toEqual({});
  });

  it("become Unknown after 40 s of silence; their pods are evicted after 300 s and removed with the node", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(pod("p"));
    await settle(l);
    l.kubelets.die("n");
    const start = l.clock.now();
    await l.clock.run({ until: start + 50_000 });
    const lost = l.world.store.get("Node", "n") as unknown as { spec: { taints: object[] } };
    expect(lost.spec.taints).toContainEqual({ key: "node.kubernetes.io/unreachable", effect: "NoExecute" });
    expect(pods(l)[0]?.metadata.deletionTimestamp).toBeUndefined();
    await l.clock.run({ until: start + 400_000 });
    expect(pods(l)[0]?.metadata.deletionTimestamp).toBeDefined();
    l.world.delete("Node", "n");
    await l.clock.run({ until: l.clock.now() + 60_000 });
    expect(pods(l)).toEqual([]);
  });

  it("count for a PodDisruptionBudget by the replicas of the pods' controllers", async () => {
    const l = lab();
    l.world.apply(node("n", { cpu: "3" }));
    l.world.apply(deployment("web", 4));
    l.world.apply(budget("half", "web", { maxUnavailable: "50%" }));
    await settle(l);
    expect(l.world.store.get("PodDisruptionBudget", "half", "default")?.status).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 2,
      currentHealthy: 3,
      disruptionsAllowed: 1,
    });
  });

  it("are the same for the same seed", async () => {
    const play = async (seed: number) => {
      const l = lab(seed);
      const seen: string[] = [];
      l.world.onChange(({ object, type, kind }) => seen.push(`${l.clock.now()} ${type} ${kind} ${object.metadata.name}`));
      l.world.apply(node("n", { cpu: "8" }));
      l.world.apply(deployment("web", 5));
      await settle(l);
      return seen;
    };
    expect(await play(3)).toEqual(await play(3));
    expect(await play(3)).not.toEqual(await play(4));
  });
});
