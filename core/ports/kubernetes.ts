import type { CapacityBuffer, PodTemplateObject } from "../model/capacity-buffer.ts";
import type { ObjectMeta } from "../model/kubernetes.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Pod } from "../model/pod.ts";
import type {
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

/** The kinds that the product touches, by name. */
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
}

export type Kind = keyof Kinds;

/** An Event about an object, as `kubectl describe` shows it (metrics-events.md §4). */
export interface PublishedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly about: { readonly kind: Kind; readonly metadata: Pick<ObjectMeta, "name" | "namespace" | "uid"> };
}

/**
 * One cluster's API server. Objects are plain API JSON. Updates carry the resourceVersion that was read and throw ConflictError when the
 * object has changed, NotFoundError when it is gone.
 */
export interface Kubernetes {
  get<K extends Kind>(kind: K, name: string, namespace?: string): Promise<Kinds[K] | undefined>;
  /** All objects of a kind. `fieldSelector` and `labelSelector` as the API takes them. */
  list<K extends Kind>(
    kind: K,
    options?: { readonly fieldSelector?: string; readonly labelSelector?: string },
  ): Promise<readonly Kinds[K][]>;
  /** Throws ConflictError when one of that name exists. */
  create<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Replaces everything but the status. */
  update<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Replaces the status alone. */
  updateStatus<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Asks for deletion; finalizers decide when it is gone. False when it was not there (or has another UID than the one given). */
  delete(
    kind: Kind,
    name: string,
    options?: { readonly namespace?: string; readonly uid?: string; readonly gracePeriodSeconds?: number },
  ): Promise<boolean>;
  /** policy/v1 Eviction with a UID precondition. "blocked" when a PodDisruptionBudget refuses now. */
  evict(pod: Pod): Promise<"evicted" | "gone" | "blocked">;
  /** Best effort: an event that cannot be written is logged, never thrown. */
  publish(event: PublishedEvent): Promise<void>;
  /** The server's version, as "1.36". */
  version(): Promise<string>;
}
