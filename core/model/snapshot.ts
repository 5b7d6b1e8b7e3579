import type { InstanceType } from "./instance-type.ts";
import type { Node } from "./node.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodePool } from "./node-pool.ts";
import type { PaidShare } from "./paid-capacity.ts";
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

/** A bound of what nodes cost together, beside those of NodePools. */
export interface PriceCap {
  /** Whose bound it is: the setting of each cluster, or that of the stack. */
  readonly of: "cluster" | "stack";
  /** USD per hour. */
  readonly perHour: number;
  /** USD per hour that the nodes of the stack's other clusters cost, which counts against it; 0 for a cluster's. */
  readonly elsewhere: number;
}

/**
 * Everything that a decision about one cluster reads, at one instant. Nodes are read before pods, so that no room is
 * counted twice.
 */
export interface Snapshot {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nodePools: readonly NodePool[];
  /** NodePools that another controller serves: no node is made from them, and reasons of pods say so. */
  readonly otherPools?: readonly NodePool[];
  /** NodePools that cannot be read, by name, with the reason: no node is made from them, and reasons of pods say so. */
  readonly unreadablePools?: ReadonlyMap<string, string>;
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
  /**
   * Pods that do not exist and that CapacityBuffers reserve room for. They are planned like pending pods, after them.
   */
  readonly virtualPods?: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  readonly persistentVolumeClaims: readonly PersistentVolumeClaim[];
  readonly persistentVolumes: readonly PersistentVolume[];
  readonly storageClasses: readonly StorageClass[];
  readonly csiNodes: readonly CSINode[];
  readonly namespaces: readonly Namespace[];
  /**
   * Instance types by NodePool name, because the NodeClass of the NodePool decides what its nodes are (AMI family,
   * subnets, kubelet). A NodePool that is missing here has no instance types.
   */
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  /** Pod UID to NodeClaim name: pods that have a place on a NodeClaim on its way. They are not planned again. */
  readonly nominated: ReadonlyMap<string, string>;
  /** UIDs of pods that lost their place on a node and wait until the other nodes of their plan have started. */
  readonly displaced?: ReadonlySet<string>;
  /** Pod UID to NodeClaim name: what each pod was planned for, also when the nomination is over. */
  readonly plannedFor?: ReadonlyMap<string, string>;
  /** Pod UID to why no NodeClaim is planned for the pod now: the API server has refused the last one. */
  readonly refused?: ReadonlyMap<string, string>;
  /** Node name to the sentence why the node must not be disrupted: something there cannot be read. */
  readonly untouchable?: ReadonlyMap<string, string>;
  /** The most that all nodes of NodePools may cost together; no bound when absent. */
  readonly priceCap?: PriceCap;
  /** On-demand capacity that Savings Plans and reserved instances pay for; none when absent. */
  readonly paid?: readonly PaidShare[];
  /** Names of the NodeClaims that a running disruption command will remove. */
  readonly disrupting: ReadonlySet<string>;
}
