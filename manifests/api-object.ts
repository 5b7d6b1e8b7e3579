import { ownValue } from "#core/lib/own-value.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";

/** Any API object; the fields of kinds that the core does not know are plain JSON. */
export type ApiObject = KubernetesObject & { readonly spec?: unknown; readonly status?: unknown; readonly [field: string]: unknown };

/** How the API serves a kind. */
interface KindInfo {
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** Whether status is a subresource: a create or an update of the object cannot set it then. */
  readonly status: boolean;
}

const kind = (apiVersion: string, namespaced: boolean, status = false): KindInfo => ({ apiVersion, namespaced, status });

/** Kinds of the API that are checked and, in the lab, played. The lab stores other kinds unchanged. */
export const KINDS: Readonly<Record<string, KindInfo>> = {
  Pod: kind("v1", true, true),
  // A kubelet registers its node with a status, and the API server accepts it.
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
  Lease: kind("coordination.k8s.io/v1", true),
  PriorityClass: kind("scheduling.k8s.io/v1", false),
};

export const isNamespaced = (object: { readonly kind: string; readonly namespace?: string | undefined }): boolean =>
  ownValue(KINDS, object.kind)?.namespaced ?? object.namespace !== undefined;

/** RFC 3339 in whole seconds, as the API server writes times. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");

/** Objects that `frozen` made. A later `frozen` keeps them, so that a write copies only what it changes. */
const made = new WeakSet<object>();

/** A deeply frozen copy of plain JSON. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || made.has(value)) return value;
  const copy = Object.freeze(copied(value, frozen));
  made.add(copy as object);
  return copy;
}

/** A deep copy of plain JSON that may be changed. */
export function thawed<T>(value: T): T {
  return typeof value === "object" && value !== null ? copied(value, thawed) : value;
}

function copied<T extends object>(value: T, member: <M>(value: M) => M): T {
  if (Array.isArray(value)) return value.map(member) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = member((value as Record<string, unknown>)[key]);
  return copy as T;
}

/** Whether two JSON values are the same. The order of keys and keys without a value do not count. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of Object.keys(x)) if (!same(x[key], ownValue(y, key))) return false;
  for (const key of Object.keys(y)) if (y[key] !== undefined && ownValue(x, key) === undefined) return false;
  return true;
}

/** "namespace/name", or the name of a cluster-scoped object. */
export const nameOf = (object: KubernetesObject): string =>
  object.metadata.namespace === undefined ? object.metadata.name : `${object.metadata.namespace}/${object.metadata.name}`;
