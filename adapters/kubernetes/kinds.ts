import type { Kind } from "#core/ports/kubernetes.ts";

/** Where the API server serves a kind. */
interface Resource {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** True when this product installs its CustomResourceDefinition. */
  readonly custom?: true;
}

export const RESOURCES: Readonly<Record<Kind, Resource>> = {
  Pod: { apiVersion: "v1", plural: "pods", namespaced: true },
  Node: { apiVersion: "v1", plural: "nodes", namespaced: false },
  NodeClaim: { apiVersion: "karpenter.sh/v1", plural: "nodeclaims", namespaced: false, custom: true },
  NodePool: { apiVersion: "karpenter.sh/v1", plural: "nodepools", namespaced: false, custom: true },
  EC2NodeClass: { apiVersion: "karpenter.k8s.aws/v1", plural: "ec2nodeclasses", namespaced: false, custom: true },
  NodeOverlay: { apiVersion: "karpenter.sh/v1alpha1", plural: "nodeoverlays", namespaced: false, custom: true },
  CapacityBuffer: { apiVersion: "autoscaling.x-k8s.io/v1beta1", plural: "capacitybuffers", namespaced: true, custom: true },
  PodTemplate: { apiVersion: "v1", plural: "podtemplates", namespaced: true },
  DaemonSet: { apiVersion: "apps/v1", plural: "daemonsets", namespaced: true },
  Deployment: { apiVersion: "apps/v1", plural: "deployments", namespaced: true },
  StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets", namespaced: true },
  ReplicaSet: { apiVersion: "apps/v1", plural: "replicasets", namespaced: true },
  ReplicationController: { apiVersion: "v1", plural: "replicationcontrollers", namespaced: true },
  Service: { apiVersion: "v1", plural: "services", namespaced: true },
  PodDisruptionBudget: { apiVersion: "policy/v1", plural: "poddisruptionbudgets", namespaced: true },
  PersistentVolumeClaim: { apiVersion: "v1", plural: "persistentvolumeclaims", namespaced: true },
  PersistentVolume: { apiVersion: "v1", plural: "persistentvolumes", namespaced: false },
  StorageClass: { apiVersion: "storage.k8s.io/v1", plural: "storageclasses", namespaced: false },
  CSINode: { apiVersion: "storage.k8s.io/v1", plural: "csinodes", namespaced: false },
  VolumeAttachment: { apiVersion: "storage.k8s.io/v1", plural: "volumeattachments", namespaced: false },
  Namespace: { apiVersion: "v1", plural: "namespaces", namespaced: false },
  Lease: { apiVersion: "coordination.k8s.io/v1", plural: "leases", namespaced: true },
  ConfigMap: { apiVersion: "v1", plural: "configmaps", namespaced: true },
};

/** Path of a kind, or of one object. A namespaced kind without a namespace means all namespaces. */
export function pathOf(kind: Kind, name?: string, namespace?: string): string {
  const { apiVersion, plural, namespaced } = RESOURCES[kind];
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}
