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
import type { Pod } from "../model/pod.ts";
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
import { limitsProblem, statusProblem, withoutAmounts } from "./amounts.ts";

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
interface Readable extends Required<Lists> {
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
  const sorted = new Sorted();
  // The order is that of the reports.
  const pods = sorted.pods(sorted.read(given.pods));
  const claims = sorted.read(given.nodeClaims);
  const { owning, contests } = contestedInstances(claims, records);
  sorted.setAside.push(...contests);
  const nodeClaims = sorted.nodeClaims(owning, unreadable);
  const allNodes = sorted.read(given.nodes);
  const nodes = sorted.nodes(allNodes);
  const nodePools = sorted.nodePools(sorted.read(given.nodePools));
  const nodeClasses = sorted.nodeClasses(sorted.read(given.nodeClasses));
  const daemonSets = sorted.daemonSets(sorted.read(given.daemonSets));
  const others = {
    persistentVolumeClaims: sorted.whole("PersistentVolumeClaim", given.persistentVolumeClaims),
    persistentVolumes: sorted.whole("PersistentVolume", given.persistentVolumes),
    storageClasses: sorted.whole("StorageClass", given.storageClasses),
    csiNodes: sorted.whole("CSINode", given.csiNodes),
    namespaces: sorted.whole("Namespace", given.namespaces),
    podDisruptionBudgets: sorted.read(given.podDisruptionBudgets),
  };
  sorted.budgets(others.podDisruptionBudgets, pods);
  sorted.records(unreadable, claims);
  sorted.owners(allNodes, owning);
  const { setAside, untouchable } = sorted;
  const unreadablePools = new Map(
    setAside.flatMap(({ kind, metadata, message }) => (kind === "NodePool" ? [[metadata.name, message.slice(kind.length + 1)]] : [])),
  );
  return { pods, nodes, nodeClaims, nodePools, nodeClasses, ...others, daemonSets, setAside, untouchable, unreadablePools };
}

/** Sorts objects into those that can be read and those that are set aside, a kind at a time. */
class Sorted {
  readonly setAside: SetAside[] = [];
  /** Node name to the sentence why the node must not be disrupted. */
  readonly untouchable = new Map<string, string>();
  /** Objects that hold a null as an item of a list, and where. */
  readonly #gaps = new Map<KubernetesObject, string>();

  /** The objects without nulls. */
  read<T extends KubernetesObject>(list: readonly T[] = []): readonly T[] {
    return list.map((one) => {
      const { object, problem } = withoutNulls(one);
      if (problem !== undefined) this.#gaps.set(object, problem);
      return object;
    });
  }

  /** Pods whose requests cannot be read are left out, or are without requests where they run. */
  pods(pods: readonly Pod[]): readonly Pod[] {
    return pods.flatMap((pod) => {
      const node = pod.spec.nodeName ?? "";
      const effect = node === "" ? "no node is made for it" : `node ${node} takes no further pods and is not disrupted`;
      // Requests are remembered by object, so that what reads them later costs nothing.
      const problem = this.#gaps.get(pod) ?? amountProblem(() => podRequests(pod));
      if (!this.#noted("Pod", pod.metadata, problem, effect)) return [pod];
      if (node === "") return [];
      this.#hold(node, "Pod", pod.metadata);
      return [withoutAmounts(pod)];
    });
  }

  nodeClaims(claims: readonly NodeClaim[], unreadable: readonly UnreadableRecord[]): readonly NodeClaim[] {
    const unread = new Set(unreadable.map(({ name }) => name));
    return claims.map((claim) => {
      // It is not reconciled, so no pod may wait for a node of it.
      if (unread.has(claim.metadata.name) && !isTrue(claim.status?.conditions, "Registered")) return withoutRoom(claim);
      const problem = this.#gaps.get(claim) ?? resourcesProblem(claim.spec?.resources?.requests) ?? statusProblem(claim.status);
      if (!this.#noted("NodeClaim", claim.metadata, problem, "its node takes no further pods and is not disrupted")) return claim;
      if (claim.status?.nodeName) this.#hold(claim.status.nodeName, "NodeClaim", claim.metadata);
      return withoutRoom(claim);
    });
  }

  /** All nodes; those that are not disrupted take no pods. Call it after pods and NodeClaims. */
  nodes(nodes: readonly Node[]): readonly Node[] {
    for (const node of nodes) {
      const problem = this.#gaps.get(node) ?? statusProblem(node.status);
      const isSetAside = this.#noted("Node", node.metadata, problem, "it takes no further pods and is not disrupted");
      if (isSetAside) this.#hold(node.metadata.name, "Node", node.metadata);
    }
    return nodes.map((node) =>
      this.untouchable.has(node.metadata.name) ? { ...node, status: { ...node.status, capacity: {}, allocatable: {} } } : node,
    );
  }

  nodePools(pools: readonly NodePool[]): readonly NodePool[] {
    return pools.filter((pool) => {
      const problem = this.#gaps.get(pool) ?? limitsProblem(pool.spec) ?? maxPriceProblem(pool) ?? scheduleProblem(pool);
      return !this.#noted("NodePool", pool.metadata, problem, "it gets no new nodes, and its nodes are not disrupted");
    });
  }

  nodeClasses(classes: readonly EC2NodeClass[]): readonly EC2NodeClass[] {
    return classes.filter((nodeClass) => {
      const problem = this.#gaps.get(nodeClass) ?? nodeClassProblem(nodeClass.spec);
      return !this.#noted("EC2NodeClass", nodeClass.metadata, problem, "no node is launched with it");
    });
  }

  daemonSets(daemonSets: readonly DaemonSet[]): readonly DaemonSet[] {
    return daemonSets.filter((daemonSet) => {
      const { metadata, spec } = daemonSet;
      const problem = this.#gaps.get(daemonSet) ?? amountProblem(() => podRequests({ spec: admittedSpec(spec.template.spec) }));
      return !this.#noted("DaemonSet", metadata, problem, "new nodes keep no room for its pods");
    });
  }

  /** Objects of which only a null in a list can be wrong. */
  whole<T extends KubernetesObject>(kind: OtherKind, list: readonly T[] | undefined): readonly T[] {
    return this.read(list).filter((one) => !this.#noted(kind, one.metadata, this.#gaps.get(one), "it counts as absent"));
  }

  /** Holds the nodes of a namespace with a budget that cannot be read. */
  budgets(budgets: readonly PodDisruptionBudget[], pods: readonly Pod[]): void {
    for (const budget of budgets) {
      const { metadata } = budget;
      const isSetAside = this.#noted(
        "PodDisruptionBudget",
        metadata,
        this.#gaps.get(budget),
        "no node of its namespace's pods is disrupted",
      );
      if (!isSetAside) continue;
      for (const { metadata: of, spec } of pods)
        if (spec.nodeName && of.namespace === metadata.namespace) this.#hold(spec.nodeName, "PodDisruptionBudget", metadata);
    }
  }

  /** Holds the nodes of NodeClaims whose records cannot be read. */
  records(unreadable: readonly UnreadableRecord[], claims: readonly NodeClaim[]): void {
    const byName = new Map(claims.map((claim) => [claim.metadata.name, claim]));
    for (const { name, problem } of unreadable) {
      const { metadata, status } = byName.get(name) ?? { metadata: { name } };
      const message = `the record of the NodeClaim cannot be read: ${problem}; it is left as it is`;
      this.setAside.push({ kind: "NodeClaim", metadata, message });
      if (status?.nodeName) this.untouchable.set(status.nodeName, `the record of NodeClaim ${name} cannot be read`);
    }
  }

  /** Holds the nodes of which it is not clear whose they are. */
  owners(nodes: readonly Node[], claims: readonly NodeClaim[]): void {
    const { contested } = nodeOwners(nodes, claims);
    for (const { metadata } of nodes) {
      const problem = contested.get(metadata.name);
      if (problem === undefined) continue;
      this.setAside.push({ kind: "Node", metadata, reason: "NodeContested", message: `Node is not disrupted: ${problem}` });
      if (!this.untouchable.has(metadata.name)) this.untouchable.set(metadata.name, problem);
    }
  }

  /** Whether there is a problem; the object is then set aside. */
  #noted(kind: SetAside["kind"], metadata: ObjectMeta, problem: string | undefined, effect: string): boolean {
    if (problem !== undefined) this.setAside.push({ kind, metadata, message: `${kind} cannot be read: ${problem}; ${effect}` });
    return problem !== undefined;
  }

  #hold(node: string, kind: SetAside["kind"], { namespace, name }: ObjectMeta): void {
    this.untouchable.set(node, `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name} cannot be read`);
  }
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
