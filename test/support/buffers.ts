import type { CapacityBuffer, CapacityBufferSpec, PodTemplateObject } from "#core/model/capacity-buffer.ts";
import type { PodSpec } from "#core/model/pod.ts";
import type { Workload } from "#core/model/workloads.ts";

/** A CapacityBuffer: by default two pods of the PodTemplate "room". */
export function buffer(
  spec: Partial<CapacityBufferSpec> = { podTemplateRef: { name: "room" }, replicas: 2 },
  metadata: Partial<CapacityBuffer["metadata"]> = {},
  status?: CapacityBuffer["status"],
): CapacityBuffer {
  return {
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: { name: "spare", namespace: "default", uid: "cb-uid", generation: 1, ...metadata },
    spec,
    ...(status !== undefined && { status }),
  };
}

export function podSpec(requests: Record<string, string> = { cpu: "1" }, more: Partial<PodSpec> = {}): PodSpec {
  return { containers: [{ name: "main", image: "pause", resources: { requests } }], ...more };
}

export function podTemplate(requests?: Record<string, string>, more: Partial<PodSpec> = {}): PodTemplateObject {
  return {
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { name: "room", namespace: "default", generation: 3 },
    template: { metadata: { labels: { app: "web" } }, spec: podSpec(requests, more) },
  };
}

export function deployment(replicas?: number, requests?: Record<string, string>): Workload {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: podSpec(requests) },
    },
  };
}
