import { describe, expect, it } from "vitest";
import { demandOf } from "#core/insight/observed/demand.ts";
import { figuresOf } from "#core/insight/observed/figures.ts";
import { type Look, TraceWriter } from "#core/insight/observed/trace.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";

const START = Date.parse("2026-11-23T08:00:00Z");
const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString().replace(".000Z", "Z");

/** The trace of looks at so many seconds. */
function traceOf(looks: readonly (readonly [seconds: number, look: Look])[], autoscaler = "Karpenter") {
  const writer = new TraceWriter();
  const header = { trace: 1, cluster: "prod", region: "us-west-2", everyMs: 15_000, autoscaler, unread: [] } as const;
  return { header, entries: looks.map(([seconds, look]) => writer.entry(START + seconds * 1_000, look)) };
}

const owner = (kind: string, name: string) => [
  { apiVersion: kind === "Job" ? "batch/v1" : "apps/v1", kind, name, uid: `${kind}-${name}`, controller: true },
];

function pod(
  name: string,
  { ownedBy, created = 0, node, phase = "Running" }: Readonly<Partial<Record<string, unknown>>> = {},
): KubernetesObject {
  const [kind = "", of = ""] = (ownedBy as string | undefined)?.split("/") ?? [];
  const conditions = [
    { type: "PodScheduled", status: node === undefined ? "False" : "True", lastTransitionTime: at(Number(created) + 5) },
    ...(phase === "Succeeded" ? [{ type: "Ready", status: "False", lastTransitionTime: at(Number(created) + 100) }] : []),
  ];
  return {
    metadata: {
      ...{ name, namespace: "shop", uid: name, creationTimestamp: at(Number(created)), labels: { app: "web" } },
      ...(kind !== "" && { ownerReferences: owner(kind, of) }),
    },
    spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }], ...(node !== undefined && { nodeName: node }) },
    status: { phase, startTime: at(Number(created) + 10), conditions },
  } as KubernetesObject;
}

const set = (name: string, replicas: number): KubernetesObject =>
  ({
    metadata: {
      name,
      namespace: "shop",
      uid: `ReplicaSet-${name}`,
      creationTimestamp: at(-3_600),
      ownerReferences: owner("Deployment", name),
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [] } },
    },
  }) as KubernetesObject;

const replicasOf = (trace: Parameters<typeof demandOf>[0]) =>
  demandOf(trace).flatMap(({ at: time, apply, remove }) =>
    apply?.kind === "ReplicaSet"
      ? [[(time - START) / 1_000, (apply as unknown as { spec: { replicas: number } }).spec.replicas]]
      : remove
        ? [[(time - START) / 1_000, "removed"]]
        : [],
  );

describe("what owners ask for is demand", () => {
  it("replicas change when their owner writes it, at the creation of the first new pod", () => {
    const trace = traceOf([
      [0, { ReplicaSet: [set("web", 1)], Pod: [pod("a", { ownedBy: "ReplicaSet/web", node: "n1" })] }],
      [
        15,
        {
          ReplicaSet: [set("web", 2)],
          Pod: [pod("a", { ownedBy: "ReplicaSet/web", node: "n1" }), pod("b", { ownedBy: "ReplicaSet/web", created: 4 })],
        },
      ],
      [30, { ReplicaSet: [set("web", 0)], Pod: [] }],
      [45, { ReplicaSet: [set("web", 3)], Pod: [] }],
    ]);
    expect(replicasOf(trace)).toEqual([
      [0, 1],
      [4, 2],
      [30, "removed"],
      [45, 3],
    ]);
  });

  it("an evicted pod and its replacement are no demand, and count as moved", () => {
    const trace = traceOf([
      [
        0,
        {
          ReplicaSet: [set("web", 2)],
          Pod: [pod("a", { ownedBy: "ReplicaSet/web", node: "n1" }), pod("b", { ownedBy: "ReplicaSet/web", node: "n1" })],
        },
      ],
      [
        15,
        {
          ReplicaSet: [set("web", 2)],
          Pod: [pod("b", { ownedBy: "ReplicaSet/web", node: "n1" }), pod("c", { ownedBy: "ReplicaSet/web", created: 10 })],
        },
      ],
    ]);
    expect(replicasOf(trace)).toEqual([[0, 2]]);
    expect(demandOf(trace).filter(({ run }) => run)).toEqual([]);
    const { moves, unbound, waits } = figuresOf(trace, () => 1, START);
    expect([moves, unbound, waits.most]).toEqual([1, ["shop/c"], 5]);
  });

  it("a pod that was created in the second of the first look, after it, is new", () => {
    const trace = traceOf([
      [0.7, { Pod: [] }],
      [15, { Pod: [pod("a", { ownedBy: "Job/run", created: 0, node: "n1" })] }],
    ]);
    expect(figuresOf(trace, () => 1, START + 700).waits.pods).toBe(1);
  });

  it("a pod of a Job that was evicted goes on in its replacement, and runs as long as that ran", () => {
    const trace = traceOf([
      [0, { Pod: [] }],
      [15, { Pod: [pod("run-a", { ownedBy: "Job/run", created: 10, node: "n1" })] }],
      [30, { Pod: [] }],
      [45, { Pod: [pod("run-b", { ownedBy: "Job/run", created: 40, node: "n2" })] }],
      [150, { Pod: [pod("run-b", { ownedBy: "Job/run", created: 40, node: "n2", phase: "Succeeded" })] }],
    ]);
    const runs = demandOf(trace).filter(({ run }) => run);
    expect(runs.map(({ at: time, run }) => [(time - START) / 1_000, run?.name, run?.seconds])).toEqual([[10, "run-a", 90]]);
    expect(figuresOf(trace, () => 1, START).moves).toBe(1);
  });

  it("a pod without an owner is removed when a person deletes it, and Jobs that had ended are left out", () => {
    const trace = traceOf([
      [0, { Pod: [pod("old", { ownedBy: "Job/old", phase: "Succeeded" }), pod("shell", {})] }],
      [15, { Pod: [] }],
    ]);
    expect(demandOf(trace).map(({ at: time, run, remove }) => [(time - START) / 1_000, run?.name ?? remove?.name])).toEqual([
      [0, "shell"],
      [15, "shell"],
    ]);
  });
});

describe("nodes", () => {
  const node = (name: string, labels: Readonly<Record<string, string>>): KubernetesObject =>
    ({
      metadata: { name, uid: name, creationTimestamp: at(-60), labels: { "node.kubernetes.io/instance-type": "m7i.large", ...labels } },
      spec: { providerID: `aws:///us-west-2a/i-${name}` },
      status: { allocatable: { cpu: "2", memory: "8Gi" } },
    }) as KubernetesObject;

  it("of the autoscaler are figures, and others are there in the replay", () => {
    const looks = [
      [0, { Node: [node("a", { "karpenter.sh/nodepool": "default" }), node("system", { "eks.amazonaws.com/nodegroup": "system" })] }],
      [1_800, { Node: [node("system", { "eks.amazonaws.com/nodegroup": "system" })] }],
      [3_600, { Node: [] }],
    ] as const;
    const trace = traceOf(looks);
    expect(demandOf(trace).map(({ apply, remove }) => apply?.metadata.name ?? `-${remove?.name}`)).toEqual(["system", "-system"]);
    const figures = figuresOf(trace, () => 0.5, START);
    expect([figures.dollars, figures.machines]).toEqual([0.25, { mean: 0.5, most: 1, bought: 0 }]);
    // Cluster Autoscaler's nodes are those of its node groups.
    const groups = figuresOf(traceOf(looks, "Cluster Autoscaler"), () => 0.5, START);
    expect([...groups.byNodePool]).toEqual([
      ["default", 0.25],
      ["system", 0.5],
    ]);
  });

  it("whose price is not known are named", () => {
    const trace = traceOf([
      [0, { Node: [node("a", { "karpenter.sh/nodepool": "default" })] }],
      [60, { Node: [node("a", { "karpenter.sh/nodepool": "default" })] }],
    ]);
    expect(figuresOf(trace, () => undefined, START).unpriced).toEqual(["a"]);
  });
});
