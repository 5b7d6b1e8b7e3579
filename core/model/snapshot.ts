import type { InstanceType } from "./instance-type.ts";
import type { Node } from "./node.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodePool } from "./node-pool.ts";
import type { Pod } from "./pod.ts";
import type {
  CSINode,
  DaemonSet,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from "./workloads.ts";

/** Everything that a decision about one cluster reads, at one instant. Nodes are read before pods, so that room is never counted twice. */
export interface Snapshot {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nodePools: readonly NodePool[];
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
  /** Pods that do not exist and that CapacityBuffers keep room for. Planned like pending ones, after them. */
  readonly virtualPods?: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  readonly persistentVolumeClaims: readonly PersistentVolumeClaim[];
  readonly persistentVolumes: readonly PersistentVolume[];
  readonly storageClasses: readonly StorageClass[];
  readonly csiNodes: readonly CSINode[];
  readonly namespaces: readonly Namespace[];
  /**
   * Instance types by NodePool name: a pool's NodeClass decides what its nodes are (AMI family, subnets, kubelet).
   * A pool that is missing here has none.
   */
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  /** Pod UID to NodeClaim name: pods for which a claim was written that has not launched yet. They are not planned again. */
  readonly nominated: ReadonlyMap<string, string>;
  /** Names of NodeClaims that a running disruption command is about to remove. */
  readonly disrupting: ReadonlySet<string>;
}
