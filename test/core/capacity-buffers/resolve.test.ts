import { describe, expect, it } from "vitest";
import { headroomOf } from "../../../core/capacity-buffers/headroom.ts";
import { MAX_REPLICAS, replicasOf } from "../../../core/capacity-buffers/replicas.ts";
import { type Referents, resolve } from "../../../core/capacity-buffers/resolve.ts";
import { bufferOf } from "../../../core/capacity-buffers/virtual-pods.ts";
import type { CapacityBufferSpec } from "../../../core/model/capacity-buffer.ts";
import { parseResources } from "../../../core/model/quantity.ts";
import { buffer, deployment, podSpec, podTemplate } from "../../support/buffers.ts";

const NOTHING: Referents = { podTemplates: [], deployments: [], statefulSets: [], replicaSets: [] };

describe("how much room", () => {
  const pod = parseResources({ cpu: "500m", memory: "1Gi", pods: "1" });

  it.for<{ name: string; spec: CapacityBufferSpec; scale?: number; want: number }>([
    { name: "replicas as they are", spec: { replicas: 3 }, want: 3 },
    { name: "none", spec: { replicas: 0 }, want: 0 },
    { name: "a share, rounded up", spec: { percentage: 20 }, scale: 11, want: 3 },
    { name: "a share of at least one pod", spec: { percentage: 1 }, scale: 1, want: 1 },
    { name: "no share of nothing", spec: { percentage: 50 }, scale: 0, want: 0 },
    { name: "no share by 0 %", spec: { percentage: 0 }, scale: 10, want: 0 },
    { name: "the larger of replicas and share", spec: { replicas: 2, percentage: 50 }, scale: 10, want: 5 },
    { name: "replicas where the share is of a workload without pods", spec: { replicas: 2, percentage: 50 }, scale: 0, want: 2 },
    { name: "replicas where there is no workload to take a share of", spec: { replicas: 2, percentage: 50 }, want: 2 },
    { name: "as many as the limits hold", spec: { limits: { cpu: "2", memory: "3Gi" } }, want: 3 },
    { name: "no more than the limits hold", spec: { replicas: 10, limits: { cpu: "2" } }, want: 4 },
    { name: "less than the limits hold", spec: { replicas: 1, limits: { cpu: "2" } }, want: 1 },
    { name: "a limit in pods", spec: { replicas: 9, limits: { pods: "4" } }, want: 4 },
    { name: "a limit that is too small for one", spec: { replicas: 9, limits: { cpu: "100m" } }, want: 0 },
    { name: "limits on what the pods do not ask for do not count", spec: { replicas: 2, limits: { "nvidia.com/gpu": 1 } }, want: 2 },
    { name: "nor do they make a size", spec: { limits: { "nvidia.com/gpu": 1 } }, want: 0 },
    { name: "never more than planning can bear", spec: { replicas: 2_000_000_000 }, want: MAX_REPLICAS },
  ])("is $name", ({ spec, scale, want }) => {
    expect(replicasOf(spec, scale, pod)).toBe(want);
  });
});

describe("a buffer", () => {
  it("takes its shape from a PodTemplate", () => {
    expect(resolve(buffer(), { ...NOTHING, podTemplates: [podTemplate()] })).toMatchObject({
      ready: true,
      replicas: 2,
      podTemplate: { name: "room", generation: 3 },
    });
  });

  it("takes shape and scale from a workload, whose replicas are 1 unless it says more", () => {
    const spec = { scalableRef: { kind: "Deployment", name: "web" }, percentage: 100 };
    const of = (replicas?: number) => resolve(buffer(spec), { ...NOTHING, deployments: [deployment(replicas)] });
    expect(of(7)).toMatchObject({ ready: true, replicas: 7 });
    expect(of()).toMatchObject({ ready: true, replicas: 1 });
    expect(of(7)).not.toHaveProperty("podTemplate");
    expect(resolve(buffer({ ...spec, scalableRef: { ...spec.scalableRef, apiGroup: "apps" } }), NOTHING)).toMatchObject({ ready: false });
  });

  it("counts what the API server would fill in from limits", () => {
    const template = podTemplate({}, { containers: [{ name: "main", resources: { limits: { cpu: "2" } } }] });
    const found = resolve(buffer({ podTemplateRef: { name: "room" }, limits: { cpu: "6" } }), { ...NOTHING, podTemplates: [template] });
    expect(found).toMatchObject({ ready: true, replicas: 3 });
  });

  it.for<{ name: string; spec: CapacityBufferSpec; reason: string; says: string }>([
    { name: "names nothing", spec: { replicas: 1 }, reason: "ResolutionFailed", says: "neither podTemplateRef nor scalableRef is set" },
    {
      name: "names both",
      spec: { podTemplateRef: { name: "room" }, scalableRef: { kind: "Deployment", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "spec has both podTemplateRef and scalableRef; leave one of them out",
    },
    {
      name: "names a template that is not there",
      spec: { podTemplateRef: { name: "rooom" }, replicas: 1 },
      reason: "PodTemplateNotFound",
      says: "PodTemplate default/rooom does not exist; create it, or correct spec.podTemplateRef",
    },
    {
      name: "names a workload of another kind",
      spec: { scalableRef: { kind: "StatefulSet", name: "web" }, replicas: 1 },
      reason: "ScalableRefNotFound",
      says: "StatefulSet default/web does not exist",
    },
    {
      name: "follows what cannot be followed",
      spec: { scalableRef: { kind: "DaemonSet", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "names a DaemonSet; only Deployments, StatefulSets and ReplicaSets",
    },
    {
      name: "follows a kind of another group",
      spec: { scalableRef: { apiGroup: "argoproj.io", kind: "Deployment", name: "web" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "names a argoproj.io/Deployment",
    },
    {
      name: "wants another strategy",
      spec: { provisioningStrategy: "buffer.gke.io/standby-capacity", podTemplateRef: { name: "room" }, replicas: 1 },
      reason: "ResolutionFailed",
      says: "provisioningStrategy buffer.gke.io/standby-capacity is not known",
    },
    {
      name: "has a limit that is no quantity",
      spec: { podTemplateRef: { name: "room" }, limits: { cpu: "lots" } },
      reason: "ResolutionFailed",
      says: 'resource cpu: quantity "lots" is not valid',
    },
  ])("says so when it $name", ({ spec, reason, says }) => {
    const found = resolve(buffer(spec), { ...NOTHING, podTemplates: [podTemplate()], deployments: [deployment(1)] });
    expect(found).toMatchObject({ ready: false, reason });
    expect(found).toHaveProperty("message", expect.stringContaining(says));
  });

  it("sees only its own namespace", () => {
    const found = resolve(buffer(undefined, { namespace: "other" }), { ...NOTHING, podTemplates: [podTemplate()] });
    expect(found).toMatchObject({ ready: false, reason: "PodTemplateNotFound" });
  });
});

describe("the pods of a buffer", () => {
  it("have Karpenter's names, UIDs and annotations, and the template's labels", () => {
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

  it("have no volumes of their own, and no node", () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }, { name: "scratch", ephemeral: {} }, { name: "tmp" }];
    const template = podTemplate({}, { volumes, nodeName: "n1", nodeSelector: { disk: "ssd" } });
    const [{ pods = [] } = {}] = headroomOf([buffer()], { ...NOTHING, podTemplates: [template] });
    expect(pods[0]?.spec).toMatchObject({ volumes: [{ name: "tmp" }], nodeSelector: { disk: "ssd" } });
    expect(pods[0]?.spec).not.toHaveProperty("nodeName");
  });

  it("are not thought of for a buffer that is being deleted", () => {
    const going = buffer(undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(headroomOf([going], { ...NOTHING, podTemplates: [podTemplate()] })).toEqual([]);
  });

  it("come in the order of their buffers' names, however those are listed", () => {
    const buffers = ["b", "a"].map((name) => buffer({ podTemplateRef: { name: "room" }, replicas: 1 }, { name }));
    expect(headroomOf(buffers, { ...NOTHING, podTemplates: [podTemplate()] }).map(({ buffer: { metadata } }) => metadata.name)).toEqual([
      "a",
      "b",
    ]);
  });

  it("are none of those that exist", () => {
    expect(bufferOf({ metadata: { name: "p" }, spec: podSpec() })).toBeUndefined();
  });
});
