import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "#core/lib/json.ts";
import { readAdmissionRequest } from "#core/signals/admission-request.ts";
import { readAuditRecord } from "#core/signals/audit-record.ts";
import { wakeUpsFor } from "#core/signals/signal.ts";

const record = (name: string): JsonObject =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../../events/audit", `${name}.json`), "utf8")) as JsonObject;

describe("audit records, as a real API server writes them under EKS's policy", () => {
  it.for([
    { name: "pod-unschedulable-first", kind: "pod-unschedulable" },
    { name: "pod-unschedulable-again", kind: "pod-unschedulable" },
    { name: "pod-bound", kind: "pod-moved" },
    { name: "pod-deleted", kind: "pod-moved" },
    { name: "pod-delete-requested", kind: undefined },
    { name: "pod-created", kind: undefined },
    { name: "pod-running", kind: undefined },
    { name: "pod-evicted", kind: undefined },
    { name: "pod-eviction-refused-by-pdb", kind: undefined },
    { name: "scheduler-event-metadata-only", kind: undefined },
    { name: "node-created", kind: "node-changed" },
    { name: "node-deleted", kind: "node-changed" },
    { name: "node-cordoned", kind: "node-changed" },
    { name: "node-not-ready-by-controller", kind: "node-changed" },
    { name: "node-status-by-kubelet", kind: undefined },
    { name: "node-tainted-or-untainted", kind: undefined },
    { name: "nodepool-created", kind: "pool-or-class-changed" },
    { name: "deployment-scaled", kind: undefined },
  ])("the audit record $name means $kind", ({ name, kind }) => {
    expect(readAuditRecord(record(name))?.kind).toBe(kind);
  });

  it.for([
    { group: "autoscaling.x-k8s.io", resource: "capacitybuffers", verb: "create", means: "capacitybuffers/default/spare" },
    { group: "autoscaling.x-k8s.io", resource: "capacitybuffers", verb: "get", means: undefined },
    { group: "autoscaling.x-k8s.io", resource: "capacitybuffers", verb: "patch", subresource: "status", means: undefined },
    { group: undefined, resource: "podtemplates", verb: "update", means: "podtemplates/default/spare" },
  ])("$verb $resource $subresource means $means", ({ group, resource, verb, subresource, means }) => {
    const objectRef = {
      resource,
      namespace: "default",
      name: "spare",
      ...(group && { apiGroup: group }),
      ...(subresource && { subresource }),
    };
    const written = { verb, objectRef, responseStatus: { code: 200 }, user: { username: "kubernetes-admin" } };
    expect(readAuditRecord(written)).toEqual(means && { kind: "buffer-changed", name: means });
  });

  it.for([
    { subresource: "scale", means: "pool-or-class-changed" },
    { subresource: "status", means: undefined },
  ])("a patch of a NodePool's $subresource means $means", ({ subresource, means }) => {
    const created = record("nodepool-created");
    const scaled = { ...created, verb: "patch", objectRef: { ...(created["objectRef"] as object), subresource } };
    expect(readAuditRecord(scaled)?.kind).toBe(means);
  });

  it("an audit record of our own functions means nothing", () => {
    const ours = {
      ...record("nodepool-created"),
      user: { username: "arn:aws:sts::1:assumed-role/f/f", groups: ["karpenter-serverless:catalog"] },
    };
    expect(readAuditRecord(ours)).toBeUndefined();
  });

  it("audit records of DaemonSet pods and of preempting pods mean nothing", () => {
    const patch = record("pod-unschedulable-first");
    const response = patch["responseObject"] as { metadata: object };
    const daemon = { ...response, metadata: { ...response.metadata, ownerReferences: [{ kind: "DaemonSet" }] } };
    expect(readAuditRecord({ ...patch, responseObject: daemon })).toBeUndefined();
    const request = patch["requestObject"] as { status: object };
    expect(readAuditRecord({ ...patch, requestObject: { status: { ...request.status, nominatedNodeName: "n" } } })).toBeUndefined();
  });
});

describe("admission requests of the webhook", () => {
  const unschedulable = { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] } };
  it.for([
    {
      what: "an Event that a pod fits nowhere",
      request: {
        resource: { resource: "events" },
        operation: "CREATE",
        object: { reason: "FailedScheduling", regarding: { kind: "Pod", namespace: "default", name: "web-1" } },
      },
      kind: "pod-unschedulable",
    },
    {
      what: "an Event of the core group that a pod fits nowhere",
      request: {
        resource: { resource: "events" },
        operation: "UPDATE",
        object: { reason: "FailedScheduling", involvedObject: { kind: "Pod", namespace: "default", name: "web-1" } },
      },
      kind: "pod-unschedulable",
    },
    {
      what: "an Event with another reason",
      request: { resource: { resource: "events" }, operation: "CREATE", object: { reason: "Scheduled", regarding: { kind: "Pod" } } },
      kind: undefined,
    },
    {
      what: "the status of a pod that fits nowhere, which an Event has as well,",
      request: { resource: { resource: "pods" }, operation: "UPDATE", object: unschedulable },
      kind: undefined,
    },
    {
      what: "a gated pod",
      request: {
        resource: { resource: "pods" },
        operation: "UPDATE",
        object: { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } },
      },
      kind: undefined,
    },
    { what: "a pod that is deleted", request: { resource: { resource: "pods" }, operation: "DELETE", oldObject: {} }, kind: "pod-moved" },
    {
      what: "a bound pod that ends",
      request: {
        resource: { resource: "pods" },
        operation: "UPDATE",
        object: { status: { phase: "Succeeded" } },
        oldObject: { spec: { nodeName: "n" } },
      },
      kind: "pod-moved",
    },
    { what: "a claim", request: { resource: { resource: "nodeclaims" }, operation: "CREATE", object: {} }, kind: "claim-changed" },
    {
      what: "a class",
      request: { resource: { resource: "ec2nodeclasses" }, operation: "UPDATE", object: {} },
      kind: "pool-or-class-changed",
    },
    {
      what: "an overlay",
      request: { resource: { resource: "nodeoverlays" }, operation: "DELETE", object: null },
      kind: "pool-or-class-changed",
    },
    {
      what: "a buffer",
      request: { resource: { resource: "capacitybuffers" }, operation: "UPDATE", object: {} },
      kind: "buffer-changed",
    },
    {
      what: "the shape of one",
      request: { resource: { resource: "podtemplates" }, operation: "UPDATE", object: {} },
      kind: "buffer-changed",
    },
    { what: "something else", request: { resource: { resource: "secrets" }, operation: "UPDATE", object: {} }, kind: undefined },
  ])("an admission request for $what means $kind", ({ request, kind }) => {
    expect(readAdmissionRequest({ name: "x", namespace: "default", ...request })?.kind).toBe(kind);
  });
});

describe("updates of a node that starts", () => {
  const node = (ready: "True" | "False", ...taints: readonly string[]) => ({
    spec: { providerID: "aws:///z/i-1", taints: ["karpenter.sh/unregistered", ...taints].map((key) => ({ key, effect: "NoExecute" })) },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });
  const notReady = "node.kubernetes.io/not-ready";
  const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";

  it.for([
    { what: "it stays not Ready", before: node("False", notReady, uninitialized), after: node("False", notReady), means: undefined },
    {
      what: "it is Ready, and a taint of its start is left",
      before: node("False", notReady),
      after: node("True", notReady),
      means: undefined,
    },
    {
      what: "one of two taints of its start goes",
      before: node("True", notReady, uninitialized),
      after: node("True", notReady),
      means: undefined,
    },
    { what: "the last taint of its start goes", before: node("True", notReady), after: node("True"), means: "node-changed" },
    { what: "it becomes Ready without such a taint", before: node("False"), after: node("True"), means: "node-changed" },
    { what: "it is no longer Ready", before: node("True"), after: node("False", notReady), means: "node-changed" },
    {
      what: "it is deleted meanwhile",
      before: node("False", notReady),
      after: { ...node("False", notReady), metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
      means: "node-changed",
    },
  ])("$what: $means", ({ before, after, means }) => {
    const request = { resource: { resource: "nodes" }, operation: "UPDATE", name: "n", oldObject: before, object: after };
    expect(readAdmissionRequest(request)?.kind).toBe(means);
  });
});

it.for([
  { what: "that takes no pods yet", ready: "False" as const, isNew: true },
  { what: "that is Ready at once", ready: "True" as const, isNew: undefined },
])("a node $what joins: new is $isNew", ({ ready, isNew }) => {
  const object = { spec: { providerID: "aws:///z/i-1" }, status: { conditions: [{ type: "Ready", status: ready }] } };
  const signal = readAdmissionRequest({ resource: { resource: "nodes" }, operation: "CREATE", name: "n", object });
  expect(signal).toEqual({ kind: "node-changed", node: "n", providerId: "aws:///z/i-1", ...(isNew && { isNew }) });
});

it("the signal of an Event names the pod, and not the Event", () => {
  const object = { reason: "FailedScheduling", regarding: { kind: "Pod", namespace: "shop", name: "web-1" } };
  const request = { resource: { resource: "events" }, operation: "CREATE", name: "web-1.18f2", namespace: "shop", object };
  expect(readAdmissionRequest(request)).toEqual({ kind: "pod-unschedulable", pod: "shop/web-1" });
});

describe("wake-ups", () => {
  it("wake-ups are merged: one for many pods, one per NodeClaim, and a delayed one for disruption", () => {
    const signals = [
      ...["a", "b", "a"].map((pod) => ({ kind: "pod-unschedulable", pod }) as const),
      { kind: "pod-moved", pod: "c" } as const,
      { kind: "pod-moved", pod: "d" } as const,
      { kind: "claim-changed", claim: "default-1" } as const,
      { kind: "node-changed", node: "n", providerId: "aws:///z/i-1" } as const,
      { kind: "node-changed", node: "stranger", providerId: "aws:///z/i-2" } as const,
    ];
    expect(wakeUpsFor("c1", signals, new Map([["aws:///z/i-1", "default-1"]]))).toEqual([
      { kind: "provision", cluster: "c1", cause: "PodsUnschedulable", detail: "2" },
      { kind: "claim", cluster: "c1", claim: "default-1" },
      { kind: "disruption", cluster: "c1", cause: "PodsMoved", delayMs: 5_000 },
    ]);
  });

  it("a node that joins and changes at once wakes its NodeClaim for the change", () => {
    const changed = { kind: "node-changed", node: "n", providerId: "aws:///z/i-1" } as const;
    const about = (...signals: Parameters<typeof wakeUpsFor>[1]) =>
      wakeUpsFor("c1", signals, new Map([["aws:///z/i-1", "default-1"]])).map((wakeUp) => (wakeUp.kind === "claim" ? wakeUp.about : ""));
    const joined = { ...changed, isNew: true } as const;
    expect([about(joined), about(joined, changed), about(changed, joined)]).toEqual([["new-node"], ["node"], ["node"]]);
  });

  it("a changed buffer wakes the planner, together with pending pods", () => {
    const changed = { kind: "buffer-changed", name: "capacitybuffers/default/spare" } as const;
    const provision = { kind: "provision", cluster: "c1" };
    expect(wakeUpsFor("c1", [changed, changed], new Map())).toEqual([
      { ...provision, cause: "BufferChanged", detail: "capacitybuffers/default/spare" },
    ]);
    expect(wakeUpsFor("c1", [changed, { kind: "pod-unschedulable", pod: "a" }], new Map())).toEqual([
      { ...provision, cause: "PodsUnschedulable", detail: "1" },
    ]);
  });

  it("signals without consequence give no wake-ups", () => {
    expect(wakeUpsFor("c1", [], new Map())).toEqual([]);
  });
});
