import type { CapacityBuffer } from "../model/capacity-buffer.ts";
import type { Pod, PodSpec, PodTemplate } from "../model/pod.ts";
import { admittedSpec } from "../model/pod-requests.ts";

/**
 * Karpenter's annotations of virtual pods (karpenter: pkg/apis/autoscaling/v1beta1/constants.go, FakePodAnnotationKey).
 */
const FAKE_POD = "karpenter.sh/capacity-buffer-fake-pod";
const BUFFER_NAME = "karpenter.sh/capacity-buffer-name";
const BUFFER_NAMESPACE = "karpenter.sh/capacity-buffer-namespace";

/** The smallest int32: no pod is preempted for a virtual pod. */
const MIN_PRIORITY = -(2 ** 31);

/**
 * The virtual pods of a buffer. They exist only in plans; the room that is planned for them is free for real pods.
 * Names and UIDs are Karpenter's, and equal in each run
 * (karpenter: pkg/state/virtualpods/utilities.go, BuildVirtualPods).
 */
export function virtualPods({ metadata }: CapacityBuffer, template: PodTemplate, replicas: number): readonly Pod[] {
  const { name, namespace = "default", uid = `${namespace}/${name}`, creationTimestamp } = metadata;
  // One object for all pods, because requests are computed once per spec.
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

/** "namespace/name" of the buffer of a virtual pod; undefined for a real pod. */
export function bufferOf({ metadata }: Pod): string | undefined {
  const { annotations = {} } = metadata;
  return annotations[FAKE_POD] === "true" ? `${annotations[BUFFER_NAMESPACE]}/${annotations[BUFFER_NAME]}` : undefined;
}

/**
 * The spec of a virtual pod for this template. It has no volumes that need a claim, because no claim is ever created
 * for it.
 */
export function placeholderSpec(template: PodSpec): PodSpec {
  const { nodeName: _, volumes, ...spec } = admittedSpec(template);
  const kept = volumes?.filter((volume) => volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) ?? [];
  return {
    ...spec,
    priority: MIN_PRIORITY,
    ...(kept.length > 0 && { volumes: kept }),
  };
}
