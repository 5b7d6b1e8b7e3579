import { describe, expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import { MAX_REPLICAS, MAX_VIRTUAL_PODS, replicasOf, sharesOf } from "#core/capacity-buffers/replicas.ts";
import { type Referents, resolve } from "#core/capacity-buffers/resolve.ts";
import { bufferOf } from "#core/capacity-buffers/virtual-pods.ts";
import type { CapacityBufferSpec } from "#core/model/capacity-buffer.ts";
import { parseResources } from "#core/model/quantity.ts";
import { buffer, deployment, podSpec, podTemplate } from "../../support/buffers.ts";

const NOTHING: Referents = { podTemplates: [], deployments: [], statefulSets: [], replicaSets: [] };

describe("replicasOf", () => {
  const pod = parseResources({ cpu: "500m", memory: "1Gi", pods: "1" });

  it.for<{ name: string; spec: CapacityBufferSpec; scale?: number; want: number }>([
    { name: "replicas as they are", spec: { replicas: 3 }, want: 3 },
    { name: "zero replicas", spec: { replicas: 0 }, want: 0 },
    { name: "a share, rounded up", spec: { percentage: 20 }, scale: 11, want: 3 },
    { name: "a share of at least one pod", spec: { percentage: 1 }, scale: 1, want: 1 },
    { name: "a percentage of a workload without replicas", spec: { percentage: 50 }, scale: 0, want: 0 },
    { name: "a percentage of 0", spec: { percentage: 0 }, scale: 10, want: 0 },
    { name: "the larger of replicas and share", spec: { replicas: 2, percentage: 50 }, scale: 10, want: 5 },
    { name: "replicas where the share is of a workload without pods", spec: { replicas: 2, percentage: 50 }, scale: 0, want: 2 },
    { name: "replicas where there is no workload to take a share of", spec: { replicas: 2, percentage: 50 }, want: 2 },
    { name: "limits alone", spec: { limits: { cpu: "2", memory: "3Gi" } }, want: 3 },
    { name: "replicas above the limits", spec: { replicas: 10, limits: { cpu: "2" } }, want: 4 },
    { name: "replicas below the limits", spec: { replicas: 1, limits: { cpu: "2" } }, want: 1 },
    { name: "a limit in pods", spec: { replicas: 9, limits: { pods: "4" } }, want: 4 },
    { name: "a limit that is too small for one", spec: { replicas: 9, limits: { cpu: "100m" } }, want: 0 },
    { name: "limits of resources that the pods do not request", spec: { replicas: 2, limits: { "nvidia.com/gpu": 1 } }, want: 2 },
    { name: "only limits of resources that the pods do not request", spec: { limits: { "nvidia.com/gpu": 1 } }, want: 0 },
    { name: "any number of replicas", spec: { replicas: 2_000_000_000 }, want: 2_000_000_000 },
  ])("the number of virtual pods: $name", ({ spec, scale, want }) => {
    expect(replicasOf(spec, scale, pod)).toBe(want);
  });
});

describe("the shares of buffers", () => {
  it.for([
    { name: "each gets what it asks for where that is not too much", wanted: [1, 0, 5], most: 6, want: [1, 0, 5] },
    { name: "a large one gets what the small ones leave", wanted: [1, 1_000, 2], most: 10, want: [1, 7, 2] },
    { name: "large ones get equal parts", wanted: [1_000, 2, 500], most: 10, want: [4, 2, 4] },
    { name: "none gets more than a buffer may have", wanted: [2_000_000_000, 3], most: 50_000, want: [MAX_REPLICAS, 3] },
    { name: "there are more buffers than pods", wanted: [1, 1, 1], most: 2, want: [0, 1, 1] },
  ])("$name", ({ wanted, most, want }) => {
    expect(sharesOf(wanted, most)).toEqual(want);
  });

  it("a hundred large buffers come to no more pods than a plan can be made for, and a small one keeps its own", () => {
    const large = Array.from({ length: 100 }, (_, i) =>
      buffer({ podTemplateRef: { name: "room" }, replicas: 1_000_000 }, { name: `b${i}` }),
    );
    const small = buffer({ podTemplateRef: { name: "room" }, replicas: 5 }, { name: "small" });
    const headroom = headroomOf([...large, small], { ...NOTHING, podTemplates: [podTemplate()] });
    expect(headroom.flatMap(({ pods }) => pods).length).toBeLessThanOrEqual(MAX_VIRTUAL_PODS);
    expect(headroom.find((room) => room.buffer.metadata.name === "small")?.pods).toHaveLength(5);
  });
});

describe("a buffer", () => {
  it("a buffer takes its pod spec from a PodTemplate", () => {
    expect(resolve(buffer(), { ...NOTHING, podTemplates: [podTemplate()] })).toMatchObject({
      ready: true,
      replicas: 2,
      podTemplate: { name: "room", generation: 3 },
    });
  });

  it("a buffer takes pod spec and scale from a workload, whose replicas default to 1", () => {
    const spec = { scalableRef: { kind: "Deployment", name: "web" }, percentage: 100 };
    const of = (replicas?: number) => resolve(buffer(spec), { ...NOTHING, deployments: [deployment(replicas)] });
    expect(of(7)).toMatchObject({ ready: true, replicas: 7 });
    expect(of()).toMatchObject({ ready: true, replicas: 1 });
    expect(of(7)).not.toHaveProperty("podTemplate");
    expect(resolve(buffer({ ...spec, scalableRef: { ...spec.scalableRef, apiGroup: "apps" } }), NOTHING)).toMatchObject({ ready: false });
  });

  it("a buffer counts requests that the API server would copy from limits", () => {
    const template = podTemplate({}, { containers: [{ name: "main", resources: { limits: { cpu: "2" } } }] });
    const found = resolve(buffer({ podTemplateRef: { name: "room" }, limits: { cpu: "6" } }), { ...NOTHING, podTemplates: [template] });
    expect(found).toMatchObject({ ready: true, replicas: 3 });
  });

  it.for<{ name: string; spec: CapacityBufferSpec; reason: string; says: string }>([
    { name: "has no reference", spec: { replicas: 1 }, reason: "ResolutionFailed", says: "neither podTemplateRef nor scalableRef is set" },
    {
      name: "has both references",
      spec: { podTemplateRef: { name: "room" }, scalableRef: { kind: "Deployment", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "spec has both podTemplateRef and scalableRef; leave one of them out",
    },
    {
      name: "references a missing PodTemplate",
      spec: { podTemplateRef: { name: "rooom" }, replicas: 1 },
      reason: "PodTemplateNotFound",
      says: "PodTemplate default/rooom does not exist; create it, or correct spec.podTemplateRef",
    },
    {
      name: "references a missing workload",
      spec: { scalableRef: { kind: "StatefulSet", name: "web" }, replicas: 1 },
      reason: "ScalableRefNotFound",
      says: "StatefulSet default/web does not exist",
    },
    {
      name: "references a DaemonSet",
      spec: { scalableRef: { kind: "DaemonSet", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "names a DaemonSet; only Deployments, StatefulSets and ReplicaSets",
    },
    {
      name: "references a kind of another group",
      spec: { scalableRef: { apiGroup: "argoproj.io", kind: "Deployment", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "names a argoproj.io/Deployment",
    },
    {
      name: "has an unknown strategy",
      spec: { provisioningStrategy: "buffer.gke.io/standby-capacity", podTemplateRef: { name: "room" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "provisioningStrategy buffer.gke.io/standby-capacity is not known",
    },
    {
      name: "has a limit that is not a quantity",
      spec: { podTemplateRef: { name: "room" }, limits: { cpu: "lots" } },
      reason: "ResolutionFailed",
      says: 'resource cpu: quantity "lots" is not valid',
    },
  ])("a buffer that $name is not resolved, and says why", ({ spec, reason, says }) => {
    const found = resolve(buffer(spec), { ...NOTHING, podTemplates: [podTemplate()], deployments: [deployment(1)] });
    expect(found).toMatchObject({ ready: false, reason });
    expect(found).toHaveProperty("message", expect.stringContaining(says));
  });

  it("a buffer resolves references only in its namespace", () => {
    const found = resolve(buffer(undefined, { namespace: "other" }), { ...NOTHING, podTemplates: [podTemplate()] });
    expect(found).toMatchObject({ ready: false, reason: "PodTemplateNotFound" });
  });
});

describe("the pods of a buffer", () => {
  it("virtual pods have Karpenter's names, UIDs and annotations, and the template's labels", () => {
    const [{ pods = [] } = {}] = headroomOf([buffer()], { ...NOTHING, podTemplates: [podTemplate()] });
    expect(pods.map(({ metadata }) => metadata)).toMatchObject([
      {
        name: "capacity-buffer-spare-1",
        namespace: "default",
        uid: "cb-uid-1",
        labels: { app: "web" },
        annotations: {
          "karpenter.sh/capacity-buffer-fake-pod": "true",
          "karpenter.sh/capacity-buffer-name": "spare",
          "karpenter.sh/capacity-buffer-namespace": "default",
        },
      },
      { name: "capacity-buffer-spare-2", uid: "cb-uid-2" },
    ]);
    expect(pods.map(bufferOf)).toEqual(["default/spare", "default/spare"]);
    expect(pods[0]?.spec.priority).toBe(-2_147_483_648);
  });

  it("virtual pods have no volumes that need claims, and no node", () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }, { name: "scratch", ephemeral: {} }, { name: "tmp" }];
    const template = podTemplate({}, { volumes, nodeName: "n1", nodeSelector: { disk: "ssd" } });
    const [{ pods = [] } = {}] = headroomOf([buffer()], { ...NOTHING, podTemplates: [template] });
    expect(pods[0]?.spec).toMatchObject({ volumes: [{ name: "tmp" }], nodeSelector: { disk: "ssd" } });
    expect(pods[0]?.spec).not.toHaveProperty("nodeName");
  });

  it("a buffer that is being deleted has no virtual pods", () => {
    const going = buffer(undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(headroomOf([going], { ...NOTHING, podTemplates: [podTemplate()] })).toEqual([]);
  });

  it("virtual pods are ordered by their buffers' names, whatever the order of the list", () => {
    const buffers = ["b", "a"].map((name) => buffer({ podTemplateRef: { name: "room" }, replicas: 1 }, { name }));
    expect(headroomOf(buffers, { ...NOTHING, podTemplates: [podTemplate()] }).map(({ buffer: { metadata } }) => metadata.name)).toEqual([
      "a",
      "b",
    ]);
  });

  it("a real pod belongs to no buffer", () => {
    expect(bufferOf({ metadata: { name: "p" }, spec: podSpec() })).toBeUndefined();
  });
});
