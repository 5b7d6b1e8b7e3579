// core/set-aside: what of a cluster cannot be read. Objects come in as the API server and the lists gave them; the same
// lists go out without what cannot be read, with what is assumed instead, and a sentence for each such object.
// Decisions, and how the sentences are published, must not be known here.

import { isTrue } from "../model/conditions.ts";
import { otherOwners } from "../model/instance-owner.ts";
import type { KubernetesObject, ObjectMeta } from "../model/kubernetes.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { nodeOwners } from "../model/node-owner.ts";
import type { NodePool } from "../model/node-pool.ts";
import { withoutNulls } from "../model/nulls.ts";
import type { Container, Pod } from "../model/pod.ts";
import { admittedSpec, podRequests } from "../model/pod-requests.ts";
import { amountProblem, resourcesProblem } from "../model/quantity.ts";
import type { UnreadableRecord } from "../model/read-record.ts";
import type {
  CSINode,
  DaemonSet,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from "../model/workloads.ts";
import { nodeClassProblem } from "../node-class/validate.ts";
import { maxPriceProblem } from "../node-pool/max-price.ts";
import { scheduleProblem } from "../node-pool/schedule.ts";

type OtherKind = "PodDisruptionBudget" | "PersistentVolumeClaim" | "PersistentVolume" | "StorageClass" | "CSINode" | "Namespace";

/** An object that cannot be read: it alone is left out, and where that is unsafe, the safe side is assumed for it. */
export interface SetAside {
  readonly kind: "Pod" | "Node" | "NodeClaim" | "NodePool" | "EC2NodeClass" | "DaemonSet" | OtherKind;
  readonly metadata: ObjectMeta;
  /** Reason of the event; "Unreadable" when absent. */
  readonly reason?: "NodeContested" | "InstanceContested";
  /** What cannot be read, and what follows: one sentence for the object's owner. */
  readonly message: string;
}

/** The lists of a cluster. */
export interface Lists extends OtherLists {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodePools: readonly NodePool[];
  readonly nodeClasses: readonly EC2NodeClass[];
  readonly daemonSets: readonly DaemonSet[];
}

/** Lists without amounts; one that is absent is not read. */
interface OtherLists {
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[];
  readonly persistentVolumeClaims?: readonly PersistentVolumeClaim[];
  readonly persistentVolumes?: readonly PersistentVolume[];
  readonly storageClasses?: readonly StorageClass[];
  readonly csiNodes?: readonly CSINode[];
  readonly namespaces?: readonly Namespace[];
}

/** The lists as decisions may read them. */
export interface Readable extends Required<Lists> {
  readonly setAside: readonly SetAside[];
  /** Node name to the sentence why the node must not be disrupted. */
  readonly untouchable: ReadonlyMap<string, string>;
  /** Name of a NodePool that is left out to why. */
  readonly unreadablePools: ReadonlyMap<string, string>;
}

/**
 * Sets aside each object that cannot be read, so that the others are decided about as if it were not there:
 *
 * - a pending pod, a NodePool, an EC2NodeClass, a DaemonSet, a StorageClass and the like is left out;
 * - where a PodDisruptionBudget cannot be read, no node of its namespace's pods is disrupted;
 * - the node of a NodeClaim whose record cannot be read is not disrupted, and takes no pods before it is registered;
 * - a node of which it is not clear whose it is, is not disrupted (model/node-owner.ts);
 * - a NodeClaim that names the instance of another NodeClaim's record is left out (model/instance-owner.ts);
 * - a node that cannot be read, or with a running pod or a NodeClaim that cannot be read, takes no further pods and is
 *   not disrupted.
 *
 * A null says the same as an absent field, so that no reader meets one (model/nulls.ts).
 */
export function withoutUnreadable(
  given: Lists,
  unreadable: readonly UnreadableRecord[] = [],
  records: readonly NodeClaimRecord[] = [],
): Readable {
  const setAside: SetAside[] = [];
  const untouchable = new Map<string, string>();
  const noted = (kind: SetAside["kind"], metadata: ObjectMeta, problem: string | undefined, effect: string): boolean => {
    if (problem !== undefined) setAside.push({ kind, metadata, message: `${kind} cannot be read: ${problem}; ${effect}` });
    return problem !== undefined;
  };
  const held = (node: string, kind: SetAside["kind"], { namespace, name }: ObjectMeta): void => {
    untouchable.set(node, `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name} cannot be read`);
  };

  /** Objects that hold a null as an item of a list, and where. */
  const gaps = new Map<KubernetesObject, string>();
  const read = <T extends KubernetesObject>(list: readonly T[] = []): readonly T[] =>
    list.map((one) => {
      const { object, problem } = withoutNulls(one);
      if (problem !== undefined) gaps.set(object, problem);
      return object;
    });
  const lists = {
    ...{ pods: read(given.pods), nodes: read(given.nodes), nodeClaims: read(given.nodeClaims), nodePools: read(given.nodePools) },
    ...{ nodeClasses: read(given.nodeClasses), daemonSets: read(given.daemonSets) },
  };

  const pods = lists.pods.flatMap((pod) => {
    const node = pod.spec.nodeName ?? "";
    const effect = node === "" ? "no node is made for it" : `node ${node} takes no further pods and is not disrupted`;
    // Requests are remembered by object, so that what reads them later costs nothing.
    const problem = gaps.get(pod) ?? amountProblem(() => podRequests(pod));
    if (!noted("Pod", pod.metadata, problem, effect)) return [pod];
    if (node === "") return [];
    held(node, "Pod", pod.metadata);
    return [withoutAmounts(pod)];
  });
  const { owning, contests } = contestedInstances(lists.nodeClaims, records);
  setAside.push(...contests);
  const unread = new Set(unreadable.map(({ name }) => name));
  const nodeClaims = owning.map((claim) => {
    // No function advances it, so no pod may wait for a node of it.
    if (unread.has(claim.metadata.name) && !isTrue(claim.status?.conditions, "Registered")) return withoutRoom(claim);
    const problem = gaps.get(claim) ?? resourcesProblem(claim.spec?.resources?.requests) ?? statusProblem(claim.status);
    if (!noted("NodeClaim", claim.metadata, problem, "its node takes no further pods and is not disrupted")) return claim;
    if (claim.status?.nodeName) held(claim.status.nodeName, "NodeClaim", claim.metadata);
    return withoutRoom(claim);
  });
  for (const node of lists.nodes) {
    const effect = "it takes no further pods and is not disrupted";
    if (noted("Node", node.metadata, gaps.get(node) ?? statusProblem(node.status), effect)) held(node.metadata.name, "Node", node.metadata);
  }
  const nodes = lists.nodes.map((node) =>
    untouchable.has(node.metadata.name) ? { ...node, status: { ...node.status, capacity: {}, allocatable: {} } } : node,
  );
  const nodePools = lists.nodePools.filter((pool) => {
    const problem = gaps.get(pool) ?? limitsProblem(pool.spec) ?? maxPriceProblem(pool) ?? scheduleProblem(pool);
    return !noted("NodePool", pool.metadata, problem, "it gets no new nodes, and its nodes are not disrupted");
  });
  const nodeClasses = lists.nodeClasses.filter((nodeClass) => {
    const problem = gaps.get(nodeClass) ?? nodeClassProblem(nodeClass.spec);
    return !noted("EC2NodeClass", nodeClass.metadata, problem, "no node is launched with it");
  });
  const daemonSets = lists.daemonSets.filter((daemonSet) => {
    const { metadata, spec } = daemonSet;
    const problem = gaps.get(daemonSet) ?? amountProblem(() => podRequests({ spec: admittedSpec(spec.template.spec) }));
    return !noted("DaemonSet", metadata, problem, "new nodes keep no room for its pods");
  });
  const whole = <T extends KubernetesObject>(kind: OtherKind, list: readonly T[] | undefined): readonly T[] =>
    read(list).filter((one) => !noted(kind, one.metadata, gaps.get(one), "it counts as absent"));
  const others = {
    persistentVolumeClaims: whole("PersistentVolumeClaim", given.persistentVolumeClaims),
    persistentVolumes: whole("PersistentVolume", given.persistentVolumes),
    storageClasses: whole("StorageClass", given.storageClasses),
    csiNodes: whole("CSINode", given.csiNodes),
    namespaces: whole("Namespace", given.namespaces),
    podDisruptionBudgets: read(given.podDisruptionBudgets),
  };
  for (const budget of others.podDisruptionBudgets) {
    const { metadata } = budget;
    if (!noted("PodDisruptionBudget", metadata, gaps.get(budget), "no node of its namespace's pods is disrupted")) continue;
    for (const pod of pods)
      if (pod.spec.nodeName && pod.metadata.namespace === metadata.namespace) held(pod.spec.nodeName, "PodDisruptionBudget", metadata);
  }
  const claimByName = new Map(lists.nodeClaims.map((claim) => [claim.metadata.name, claim]));
  for (const { name, problem } of unreadable) {
    const { metadata, status } = claimByName.get(name) ?? { metadata: { name } };
    setAside.push({ kind: "NodeClaim", metadata, message: `the record of the NodeClaim cannot be read: ${problem}; it is left as it is` });
    if (status?.nodeName) untouchable.set(status.nodeName, `the record of NodeClaim ${name} cannot be read`);
  }
  const { contested } = nodeOwners(lists.nodes, owning);
  for (const { metadata } of lists.nodes) {
    const problem = contested.get(metadata.name);
    if (problem === undefined) continue;
    setAside.push({ kind: "Node", metadata, reason: "NodeContested", message: `Node is not disrupted: ${problem}` });
    if (!untouchable.has(metadata.name)) untouchable.set(metadata.name, problem);
  }
  const unreadablePools = new Map(
    setAside.flatMap(({ kind, metadata, message }) => (kind === "NodePool" ? [[metadata.name, message.slice(kind.length + 1)]] : [])),
  );
  return { pods, nodes, nodeClaims, nodePools, nodeClasses, ...others, daemonSets, setAside, untouchable, unreadablePools };
}

function withoutRoom(claim: NodeClaim): NodeClaim {
  const { requests: _, ...resources } = claim.spec?.resources ?? {};
  return { ...claim, spec: { ...claim.spec, resources }, status: { ...claim.status, capacity: {}, allocatable: {} } };
}

/** The NodeClaims without those that name another one's instance, and the condition of both. */
function contestedInstances(
  claims: readonly NodeClaim[],
  records: readonly NodeClaimRecord[],
): { readonly owning: readonly NodeClaim[]; readonly contests: readonly SetAside[] } {
  const otherOwnerOf = otherOwners(records);
  const contests: SetAside[] = [];
  const told = (metadata: ObjectMeta, message: string) =>
    contests.push({ kind: "NodeClaim", metadata, reason: "InstanceContested", message });
  const owning = claims.filter((claim) => {
    const owner = otherOwnerOf(claim);
    if (owner === undefined) return true;
    const { name } = claim.metadata;
    const id = owner.instance?.id ?? "";
    told(claim.metadata, `NodeClaim is left alone: instance ${id} is that of NodeClaim ${owner.name}; delete the NodeClaim`);
    const { metadata } = claims.find((one) => one.metadata.name === owner.name) ?? { metadata: { name: owner.name } };
    told(metadata, `NodeClaim ${name} names instance ${id}, too, and is left alone; delete NodeClaim ${name}`);
    return false;
  });
  return { owning, contests };
}

function limitsProblem({ limits }: NodePool["spec"]): string | undefined {
  const problem = resourcesProblem(limits);
  return problem === undefined ? undefined : `spec.limits: ${problem}`;
}

function statusProblem(status: Node["status"] | NodeClaim["status"]): string | undefined {
  return resourcesProblem(status?.capacity) ?? resourcesProblem(status?.allocatable);
}

/** Everything but amounts: labels, ports and topology rules of a running pod still count. */
function withoutAmounts({ status = {}, ...pod }: Pod): Pod {
  const { overhead: _, resources: __, ...spec } = pod.spec;
  const { containerStatuses: ___, initContainerStatuses: ____, resources: _____, allocatedResources: ______, ...rest } = status;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(spec.containers && { containers: spec.containers.map(withoutResources) }),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(withoutResources) }),
    },
    status: rest,
  };
}

function withoutResources({ resources: _, ...container }: Container): Container {
  return container;
}
