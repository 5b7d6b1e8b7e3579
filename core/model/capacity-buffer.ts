import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { PodTemplate } from "./pod.ts";

/** Room to keep free for pods that do not exist yet. */
export interface CapacityBufferSpec {
  /** "buffer.x-k8s.io/active-capacity" is the default and the only known strategy. */
  readonly provisioningStrategy?: string;
  /** A PodTemplate of the same namespace: the requests of one virtual pod. */
  readonly podTemplateRef?: { readonly name: string };
  /** A workload of the same namespace whose pod template is used. A missing apiGroup means "apps". */
  readonly scalableRef?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
  readonly replicas?: number;
  /** Percentage of the workload's replicas. */
  readonly percentage?: number;
  /** Upper limit of the sum of all virtual pods' requests. */
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

/** v1 PodTemplate: a pod template as an object of its own. */
export interface PodTemplateObject extends KubernetesObject {
  readonly template: PodTemplate;
}
