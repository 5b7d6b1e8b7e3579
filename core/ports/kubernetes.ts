// core/ports: what the core needs from outside, as interfaces in words of the domain; adapters implements
// them. Values of core/model come in and go out. AWS, Kubernetes clients, SQL and every other room must not be known
// here.

import type { CapacityBuffer, PodTemplateObject } from "../model/capacity-buffer.ts";
import type { KubernetesLease } from "../model/karpenter-lease.ts";
import type { ObjectMeta } from "../model/kubernetes.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Pod } from "../model/pod.ts";
import type {
  ConfigMap,
  CSINode,
  DaemonSet,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ReplicationController,
  Service,
  StorageClass,
  VolumeAttachment,
  Workload,
} from "../model/workloads.ts";

/** The kinds that the product reads or writes, by name. */
export interface Kinds {
  readonly Pod: Pod;
  readonly Node: Node;
  readonly NodeClaim: NodeClaim;
  readonly NodePool: NodePool;
  readonly EC2NodeClass: EC2NodeClass;
  readonly NodeOverlay: NodeOverlay;
  readonly CapacityBuffer: CapacityBuffer;
  readonly PodTemplate: PodTemplateObject;
  readonly DaemonSet: DaemonSet;
  readonly Deployment: Workload;
  readonly StatefulSet: Workload;
  readonly ReplicaSet: Workload;
  readonly ReplicationController: ReplicationController;
  readonly Service: Service;
  readonly PodDisruptionBudget: PodDisruptionBudget;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly PersistentVolume: PersistentVolume;
  readonly StorageClass: StorageClass;
  readonly CSINode: CSINode;
  readonly VolumeAttachment: VolumeAttachment;
  readonly Namespace: Namespace;
  readonly Lease: KubernetesLease;
  readonly ConfigMap: ConfigMap;
}

export type Kind = keyof Kinds;

/**
 * A Kubernetes Event about an object, as `kubectl describe` shows it. `docs/metrics-and-events.md` lists all of them.
 */
export interface PublishedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly about: { readonly kind: Kind; readonly metadata: Pick<ObjectMeta, "name" | "namespace" | "uid"> };
}

/**
 * The API server of one cluster. Objects are plain API JSON. An update carries the resourceVersion that was read; it
 * throws ConflictError when the object has changed since, NotFoundError when the object is deleted.
 * @example
 * const node = await kubernetes.get("Node", name);
 * if (node) await kubernetes.update("Node", { ...node, spec: { ...node.spec, unschedulable: true } });
 */
export interface Kubernetes {
  get<K extends Kind>(kind: K, name: string, namespace?: string): Promise<Kinds[K] | undefined>;
  /**
   * All objects of a kind. `fieldSelector` and `labelSelector` have the API's syntax. Functions see NodeClaims and
   * NodePools of another controller only with `everyOwner` (adapters/kubernetes/managed-objects.ts).
   */
  list<K extends Kind>(
    kind: K,
    options?: { readonly fieldSelector?: string; readonly labelSelector?: string; readonly everyOwner?: true },
  ): Promise<readonly Kinds[K][]>;
  /** Throws ConflictError when an object of that name exists. */
  create<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Replaces everything except the status. */
  update<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Replaces only the status. */
  updateStatus<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /**
   * Requests deletion; finalizers decide when the object is removed. The object as it is then, where the API server
   * returned it; true otherwise. False when the object does not exist or has another UID than the given one. `known` is
   * the object as it was read; its UID is then the given one.
   */
  delete<K extends Kind>(
    kind: K,
    name: string,
    options?: { readonly namespace?: string; readonly uid?: string; readonly gracePeriodSeconds?: number; readonly known?: Kinds[K] },
  ): Promise<Kinds[K] | boolean>;
  /** A policy/v1 Eviction with a UID precondition. "blocked" when a PodDisruptionBudget refuses it now. */
  evict(pod: Pod): Promise<"evicted" | "gone" | "blocked">;
  /**
   * Sets a pod's `status.nominatedNodeName`, and nothing else. Throws ConflictError when the pod has changed since it
   * was read, NotFoundError when it is deleted.
   */
  nominate(pod: Pod, nodeName: string): Promise<void>;
  /** Best effort: an Event that cannot be written is logged, never thrown. */
  publish(event: PublishedEvent): Promise<void>;
  /** The server's version, as in "1.36". */
  version(): Promise<string>;
}
