import type { CommandRecord } from "#core/model/command-record.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { isManagedPool, isOthersNode, managedPart } from "#core/model/managed.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { UnreadableRecord } from "#core/model/read-record.ts";
import { removedBy, removedClaims } from "#core/model/removed-claims.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { type ClusterNeeds, clusterNeeds } from "#core/pods/cluster-needs.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { nominationsOf, plannedPlaces } from "#core/provisioning/nominations.ts";
import { type SetAside, withoutUnreadable } from "#core/set-aside/set-aside.ts";

/** What a snapshot reads of a cluster: the client, or an informer in its place. */
export type ClusterReader = Pick<Kubernetes, "list">;

/** A snapshot, and the records and classes that it was made from. */
type ReadSnapshot = Snapshot & {
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly nodeClasses: readonly EC2NodeClass[];
  /** Objects that cannot be read; the snapshot is without them. */
  readonly setAside: readonly SetAside[];
};

/**
 * Reads a cluster and its records. Nodes, NodeClaims and records are read before pods, so that a pod that is bound
 * meanwhile is seen on a known node and its room is not counted twice; volumes and namespaces after them, if pods need
 * them; everything else at the same time. Pods that have ended are left out. Throws RefusedError with a sentence when
 * the CustomResourceDefinitions are not installed. Of what another controller serves, the nodes and their pods stay,
 * because pods have room there, and the NodePools are kept apart.
 */
export async function readSnapshot(options: {
  readonly kubernetes: ClusterReader;
  readonly store: Pick<NodeClaimStore, "list" | "commands">;
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What a NodePool can launch with its EC2NodeClass, given all records. */
  readonly instanceTypesOf: (nodePool: NodePool, nodeClass: EC2NodeClass, records: readonly NodeClaimRecord[]) => readonly InstanceType[];
  /** Whether PodDisruptionBudgets are read only while nodes go: nothing but the move of their pods depends on them. */
  readonly budgetsOfGoingOnly?: boolean;
  /** Pods that are planned for and not in the cluster, for which it must be read, too. */
  readonly virtualPods?: readonly Pod[];
}): Promise<ReadSnapshot> {
  const { kubernetes, store, cluster, now } = options;

  const unreadable: UnreadableRecord[] = [];
  const placed = async () => {
    const [nodes, nodeClaims, records, commands] = await Promise.all([
      kubernetes.list("Node"),
      kubernetes.list("NodeClaim", { everyOwner: true }),
      store.list(cluster, (record) => unreadable.push(record)),
      store.commands(cluster),
    ]);
    const pods = await kubernetes.list("Pod", { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" });
    return { nodes, nodeClaims, records, commands, pods };
  };

  const { budgetsOfGoingOnly = false } = options;
  const [{ records, commands, ...ofNodes }, listedPools, listedClasses, listedDaemonSets, budgets] = await Promise.all([
    placed(),
    kubernetes.list("NodePool", { everyOwner: true }),
    kubernetes.list("EC2NodeClass"),
    kubernetes.list("DaemonSet"),
    budgetsOfGoingOnly ? undefined : kubernetes.list("PodDisruptionBudget"),
  ]);
  const podDisruptionBudgets = budgets ?? (anyGoes({ ...ofNodes, records, commands }) ? await kubernetes.list("PodDisruptionBudget") : []);
  const templates = listedDaemonSets.map(({ spec }) => spec.template);
  const needs = clusterNeeds([...ofNodes.pods, ...(options.virtualPods ?? []), ...templates]);
  const listed = {
    ...{ ...ofNodes, nodePools: listedPools, nodeClasses: listedClasses, daemonSets: listedDaemonSets, podDisruptionBudgets },
    ...(await readNeeds(needs, kubernetes)),
  };
  const { otherPools, ...managed } = managedPart(listed);
  const readable = withoutUnreadable(managed, unreadable, records);
  const { nodePools, nodeClasses } = readable;

  return {
    ...{ now, otherPools, ...readable },
    setAside: readable.setAside.filter((one) => one.kind !== "Node" || !isOthersNode(one)),
    ...{ records, commands },
    instanceTypes: instanceTypesByPool(nodePools, nodeClasses, (pool, nodeClass) => options.instanceTypesOf(pool, nodeClass, records)),
    nominated: nominationsOf(records, now),
    plannedFor: plannedPlaces(records),
    disrupting: removedBy(commands),
  };
}

const isDeleted = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether nodes or NodeClaims are deleted, terminated, or about to be. */
const anyGoes = (read: Pick<ReadSnapshot, "nodes" | "nodeClaims" | "records" | "commands">): boolean =>
  removedClaims(read).size > 0 || [...read.nodes, ...read.nodeClaims].some(isDeleted);

async function readNeeds({ volumes, namespaces }: ClusterNeeds, { list }: ClusterReader) {
  const [claims, known, classes, nodes, labelled] = await Promise.all([
    volumes ? list("PersistentVolumeClaim") : [],
    volumes ? list("PersistentVolume") : [],
    volumes ? list("StorageClass") : [],
    volumes ? list("CSINode") : [],
    namespaces ? list("Namespace") : [],
  ]);
  return { persistentVolumeClaims: claims, persistentVolumes: known, storageClasses: classes, csiNodes: nodes, namespaces: labelled };
}

/**
 * The instance types that each NodePool can launch with its EC2NodeClass, by NodePool name. A NodePool without its
 * class is left out.
 */
export function instanceTypesByPool(
  nodePools: readonly NodePool[],
  nodeClasses: readonly EC2NodeClass[],
  instanceTypesOf: (nodePool: NodePool, nodeClass: EC2NodeClass) => readonly InstanceType[],
): ReadonlyMap<string, readonly InstanceType[]> {
  const classes = new Map(nodeClasses.map((nodeClass) => [nodeClass.metadata.name, nodeClass]));
  return new Map(
    nodePools.flatMap((nodePool) => {
      const nodeClass = isManagedPool(nodePool) ? classes.get(nodePool.spec.template.spec.nodeClassRef.name) : undefined;
      return nodeClass ? [[nodePool.metadata.name, instanceTypesOf(nodePool, nodeClass)] as const] : [];
    }),
  );
}
