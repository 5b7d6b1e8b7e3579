import type { KubernetesObject, LabelSelector } from "./kubernetes.ts";
import type { NodeSelectorTerm, PersistentVolumeClaimSpec, PodTemplate } from "./pod.ts";

/** apps/v1 DaemonSet. */
export interface DaemonSet extends KubernetesObject {
  readonly spec: { readonly selector?: LabelSelector; readonly template: PodTemplate };
}

/** apps/v1 Deployment, StatefulSet or ReplicaSet: the fields that scheduling reads. */
export interface Workload extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly selector?: LabelSelector; readonly template: PodTemplate };
}

/** v1 ReplicationController. */
export interface ReplicationController extends KubernetesObject {
  readonly spec: { readonly selector?: Readonly<Record<string, string>> };
}

/** v1 Service. */
export interface Service extends KubernetesObject {
  readonly spec: { readonly selector?: Readonly<Record<string, string>> };
}

/** policy/v1 PodDisruptionBudget. */
export interface PodDisruptionBudget extends KubernetesObject {
  readonly spec: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly unhealthyPodEvictionPolicy?: "IfHealthyBudget" | "AlwaysAllow";
  };
  readonly status?: { readonly disruptionsAllowed?: number };
}

/** v1 PersistentVolumeClaim. */
export interface PersistentVolumeClaim extends KubernetesObject {
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: { readonly phase?: string };
}

/** v1 PersistentVolume. */
export interface PersistentVolume extends KubernetesObject {
  readonly spec: {
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } };
    readonly csi?: { readonly driver: string };
    readonly awsElasticBlockStore?: object;
    readonly local?: object;
    readonly hostPath?: object;
  };
}

/** storage.k8s.io/v1 StorageClass. */
export interface StorageClass extends KubernetesObject {
  readonly provisioner?: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  }[];
}

/** storage.k8s.io/v1 CSINode. */
export interface CSINode extends KubernetesObject {
  readonly spec: { readonly drivers?: readonly { readonly name: string; readonly allocatable?: { readonly count?: number } }[] };
}

/** storage.k8s.io/v1 VolumeAttachment. */
export interface VolumeAttachment extends KubernetesObject {
  readonly spec: { readonly nodeName: string; readonly source: { readonly persistentVolumeName?: string } };
}

/** v1 Namespace. */
export type Namespace = KubernetesObject;

/** v1 ConfigMap. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}
