import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { PodTemplate } from "./pod.ts";

/** Room to be kept free for pods that do not exist yet. */
export interface CapacityBufferSpec {
  /** "buffer.x-k8s.io/active-capacity" (the default) is the one that is known. */
  readonly provisioningStrategy?: string;
  /** A PodTemplate of the same namespace: the shape of one pod's worth of room. */
  readonly podTemplateRef?: { readonly name: string };
  /** A workload of the same namespace whose pods have that shape. No apiGroup means "apps". */
  readonly scalableRef?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
  readonly replicas?: number;
  /** Of the workload's replicas. */
  readonly percentage?: number;
  /** What the room may come to in all. */
  readonly limits?: ResourceList;
}

export interface CapacityBufferStatus {
  readonly podTemplateRef?: { readonly name: string };
  readonly replicas?: number;
  readonly podTemplateGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly provisioningStrategy?: string;
}

/** autoscaling.x-k8s.io/v1beta1 CapacityBuffer. */
export interface CapacityBuffer extends KubernetesObject {
  readonly spec: CapacityBufferSpec;
  readonly status?: CapacityBufferStatus;
}

/** v1 PodTemplate: a template that stands by itself. */
export interface PodTemplateObject extends KubernetesObject {
  readonly template: PodTemplate;
}
