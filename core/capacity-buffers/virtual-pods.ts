import type { CapacityBuffer } from "../model/capacity-buffer.ts";
import type { Container, Pod, PodSpec, PodTemplate } from "../model/pod.ts";

/** Karpenter's annotations of pods that are only thought of (scheduling.md §15). */
export const FAKE_POD = "karpenter.sh/capacity-buffer-fake-pod";
export const BUFFER_NAME = "karpenter.sh/capacity-buffer-name";
export const BUFFER_NAMESPACE = "karpenter.sh/capacity-buffer-namespace";

/** The least that an int32 holds: nothing gives way to such a pod. */
const LEAST_PRIORITY = -(2 ** 31);

/**
 * The pods that a buffer keeps room for. They exist nowhere but in plans: what is planned for them is room that pods of flesh and blood find free.
 * Names and UIDs are Karpenter's, and the same in each run.
 */
export function virtualPods({ metadata }: CapacityBuffer, template: PodTemplate, replicas: number): readonly Pod[] {
  const { name, namespace = "default", uid = `${namespace}/${name}`, creationTimestamp } = metadata;
  // One object for all: requests are worked out once for each spec.
  const spec = placeholderSpec(template.spec);
  const annotations = { [FAKE_POD]: "true", [BUFFER_NAME]: name, [BUFFER_NAMESPACE]: namespace };
  const { labels } = template.metadata ?? {};
  return Array.from({ length: replicas }, (_, i) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `capacity-buffer-${name}-${i + 1}`,
      namespace,
      uid: `${uid}-${i + 1}`,
      annotations,
      ...(labels !== undefined && { labels }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec,
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  }));
}

/** "namespace/name" of the buffer that a pod keeps room for; undefined for a pod that exists. */
export function bufferOf({ metadata }: Pod): string | undefined {
  const { annotations = {} } = metadata;
  return annotations[FAKE_POD] === "true" ? `${annotations[BUFFER_NAMESPACE]}/${annotations[BUFFER_NAME]}` : undefined;
}

/**
 * What stands in for a pod of this template. Volumes of its own it has none, since no claim is ever made for it. Requests that are missing
 * follow from limits: the API server fills them in when it admits a pod, and templates never got that far.
 */
export function placeholderSpec(template: PodSpec): PodSpec {
  const { nodeName: _, volumes, containers, initContainers, ...spec } = template;
  const kept = volumes?.filter((volume) => volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) ?? [];
  return {
    ...spec,
    priority: LEAST_PRIORITY,
    ...(containers !== undefined && { containers: containers.map(withRequests) }),
    ...(initContainers !== undefined && { initContainers: initContainers.map(withRequests) }),
    ...(kept.length > 0 && { volumes: kept }),
  };
}

function withRequests(container: Container): Container {
  const { requests, limits } = container.resources ?? {};
  return limits === undefined ? container : { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}
