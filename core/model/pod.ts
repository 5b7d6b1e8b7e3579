import type { Condition, KubernetesObject, LabelSelector, ObjectMeta, ResourceList } from "./kubernetes.ts";
import type { Toleration } from "./taint.ts";

interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
  readonly claims?: readonly { readonly name: string }[];
}

export interface ContainerPort {
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: ResourceRequirements;
  readonly ports?: readonly ContainerPort[];
  /** "Always" on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly weight: number; readonly preference: NodeSelectorTerm }[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
  readonly matchLabelKeys?: readonly string[];
}

export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: { readonly volumeClaimTemplate?: { readonly spec: PersistentVolumeClaimSpec } };
}

export interface PersistentVolumeClaimSpec {
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly accessModes?: readonly string[];
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: ResourceList;
  /** Pod-level resources (KEP 2837). */
  readonly resources?: ResourceRequirements;
  readonly resourceClaims?: readonly { readonly name: string }[];
  readonly volumes?: readonly Volume[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly schedulerName?: string;
}

/** What a container holds while its requests are changed in place (KEP 1287). */
export interface ContainerStatus {
  readonly name: string;
  /** Requests that the kubelet has promised. */
  readonly allocatedResources?: ResourceList;
  /** Requests that the container runs with. */
  readonly resources?: ResourceRequirements;
  readonly restartCount?: number;
}

interface PodStatus {
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly conditions?: readonly Condition[];
  readonly nominatedNodeName?: string;
  readonly startTime?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  /** The same of pod-level resources. */
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
}

/** v1 Pod. */
export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

/** A pod template, as a DaemonSet or Deployment carries it. */
export interface PodTemplate {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec: PodSpec;
}
