import type { KubernetesObject } from "../../../../core/model/kubernetes.ts";

/** Any API object; kinds that the core does not know are plain JSON here. */
export type ApiObject = KubernetesObject & { readonly spec?: unknown; readonly status?: unknown; readonly [field: string]: unknown };

export interface KindInfo {
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** The API server keeps status apart: a create or an update cannot set it. */
  readonly status: boolean;
}

const kind = (apiVersion: string, namespaced: boolean, status = false): KindInfo => ({ apiVersion, namespaced, status });

/** Kinds whose behaviour the world knows. Any other is stored as it comes. */
export const KINDS: Readonly<Record<string, KindInfo>> = {
  Pod: kind("v1", true, true),
  // A kubelet registers with its status; the API server keeps it.
  Node: kind("v1", false),
  Namespace: kind("v1", false),
  Service: kind("v1", true, true),
  ConfigMap: kind("v1", true),
  Secret: kind("v1", true),
  ServiceAccount: kind("v1", true),
  ReplicationController: kind("v1", true, true),
  PersistentVolume: kind("v1", false),
  PersistentVolumeClaim: kind("v1", true),
  NodeClaim: kind("karpenter.sh/v1", false, true),
  NodePool: kind("karpenter.sh/v1", false, true),
  EC2NodeClass: kind("karpenter.k8s.aws/v1", false, true),
  NodeOverlay: kind("karpenter.sh/v1alpha1", false, true),
  CapacityBuffer: kind("autoscaling.x-k8s.io/v1beta1", true, true),
  PodTemplate: kind("v1", true),
  Deployment: kind("apps/v1", true, true),
  ReplicaSet: kind("apps/v1", true, true),
  StatefulSet: kind("apps/v1", true, true),
  DaemonSet: kind("apps/v1", true, true),
  Job: kind("batch/v1", true, true),
  CronJob: kind("batch/v1", true, true),
  PodDisruptionBudget: kind("policy/v1", true, true),
  StorageClass: kind("storage.k8s.io/v1", false),
  CSINode: kind("storage.k8s.io/v1", false),
  VolumeAttachment: kind("storage.k8s.io/v1", false, true),
  PriorityClass: kind("scheduling.k8s.io/v1", false),
};

export const isNamespaced = (object: { readonly kind: string; readonly namespace?: string | undefined }): boolean =>
  KINDS[object.kind]?.namespaced ?? object.namespace !== undefined;

/** RFC 3339 in whole seconds, as the API server writes times. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");

/** A copy that nobody can change, at any depth. */
export function frozen<T>(value: T): T {
  return freeze(structuredClone(value));
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** Same JSON value; the order of keys does not count. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(x), ...Object.keys(y)]);
  for (const key of keys) if (!same(x[key], y[key])) return false;
  return true;
}

/** "namespace/name", or the name of what lives in none. */
export const nameOf = (object: KubernetesObject): string =>
  object.metadata.namespace === undefined ? object.metadata.name : `${object.metadata.namespace}/${object.metadata.name}`;
