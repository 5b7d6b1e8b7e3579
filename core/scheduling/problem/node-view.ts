import { oncePer } from "../../lib/once-per.ts";
import { ownValue } from "../../lib/own-value.ts";
import { isTrue } from "../../model/conditions.ts";
import { HOSTNAME, INITIALIZED, INSTANCE_TYPE, NODE_CLASS, NODE_POOL, REGISTERED } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import { nodeOwners } from "../../model/node-owner.ts";
import { parseResources, type Resources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Taint } from "../../model/taint.ts";

/**
 * A node as scheduling sees it: a Node, a launched NodeClaim, or both joined by providerID and name
 * (karpenter: pkg/controllers/state/statenode.go, StateNode).
 */
export interface NodeView {
  /** Name of the Node, or of the NodeClaim while no Node is registered. */
  readonly name: string;
  /** Value of the hostname label, else the name. */
  readonly hostname: string;
  readonly node: Node | undefined;
  readonly claim: NodeClaim | undefined;
  /** Undefined for a Node that was launched from no NodeClass, whatever NodePool its label names. */
  readonly nodePool: string | undefined;
  readonly registered: boolean;
  readonly initialized: boolean;
  /** Whether it is in a running disruption command, being deleted, or its instance is being terminated. */
  readonly markedForDeletion: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Taints that pods must tolerate. Startup taints and known ephemeral taints are left out until the node is
   * initialized (karpenter: pkg/controllers/state/statenode.go, StateNode.Taints).
   */
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const EPHEMERAL_TAINTS = new Set([
  "node.kubernetes.io/not-ready:NoSchedule",
  "node.kubernetes.io/not-ready:NoExecute",
  "node.kubernetes.io/unreachable:NoSchedule",
  "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule",
  "karpenter.sh/unregistered:NoExecute",
  "karpenter.sh/rebooting:NoSchedule",
]);

/** Whether a taint is one that Kubernetes sets and removes while a node starts, whatever pods the node will take. */
export function isEphemeralTaint(taint: Taint): boolean {
  return EPHEMERAL_TAINTS.has(`${taint.key}:${taint.effect}`) || taint.key.startsWith("readiness.k8s.io/");
}

/**
 * Resources of the node, with zero or missing ones taken from the claim, because a device plugin may not have reported
 * yet.
 */
function filled(own: Resources, promised: Resources): Resources {
  const result: Record<string, number> = { ...own };
  for (const name in promised) if ((ownValue(result, name) ?? 0) === 0) result[name] = promised[name] ?? 0;
  return result;
}

/**
 * All nodes of a snapshot, sorted by name. NodeClaims without a providerID are left out, because they are no capacity
 * yet.
 */
export const nodeViews: (snapshot: Snapshot) => readonly NodeView[] = oncePer((snapshot) => {
  const { claimOf } = nodeOwners(snapshot.nodes, snapshot.nodeClaims);
  const claimByProvider = new Map<string, NodeClaim>();
  for (const claim of snapshot.nodeClaims) {
    const id = claim.status?.providerID;
    if (id) claimByProvider.set(id, claim);
  }
  const views: NodeView[] = [];
  const joined = new Set<string>();
  for (const node of snapshot.nodes) {
    const claim = claimOf(node);
    if (claim?.status?.providerID) joined.add(claim.status.providerID);
    const view = nodeView(node, claim, snapshot.disrupting);
    if (view !== undefined) views.push(view);
  }
  for (const [id, claim] of claimByProvider) {
    if (!joined.has(id)) views.push(claimView(claim, undefined, snapshot.disrupting));
  }
  return views.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
});

/**
 * One view for each machine: a Node may say that it is the machine of another, and a writer of Nodes would use up
 * limits, price caps and commitments with such ones. Of several nodes of one providerID that with the NodeClaim counts,
 * else the first.
 */
export const machinesOf: (views: readonly NodeView[]) => readonly NodeView[] = oncePer((views) => {
  const byId = new Map<string, NodeView>();
  const others: NodeView[] = [];
  for (const view of views) {
    const id = view.claim?.status?.providerID || view.node?.spec.providerID;
    if (!id) others.push(view);
    else if (!byId.has(id) || (view.claim !== undefined && byId.get(id)?.claim === undefined)) byId.set(id, view);
  }
  return [...others, ...byId.values()];
});

function isDeleting(object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;
}

function isClaimMarkedForDeletion(claim: NodeClaim, disrupting: ReadonlySet<string>): boolean {
  return disrupting.has(claim.metadata.name) || isDeleting(claim) || isTrue(claim.status?.conditions, "InstanceTerminating");
}

function nodeView(node: Node, claim: NodeClaim | undefined, disrupting: ReadonlySet<string>): NodeView | undefined {
  const labels = node.metadata.labels ?? {};
  const managed = claim !== undefined || labels[NODE_CLASS] !== undefined;
  const registered = !managed || labels[REGISTERED] === "true";
  const initialized = !managed || labels[INITIALIZED] === "true";
  if (claim === undefined && managed) {
    // A managed Node whose claim is not read yet counts once its providerID and instance type are known, as with
    // Karpenter.
    if (!node.spec.providerID || (labels[INSTANCE_TYPE] === undefined && !initialized)) return undefined;
  }
  if (claim !== undefined && !registered) return claimView(claim, node, disrupting);
  const startup = claim?.spec.startupTaints ?? [];
  const taints = node.spec.taints ?? [];
  const hidden = (taint: Taint): boolean =>
    isEphemeralTaint(taint) || startup.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  const shown = initialized ? taints : taints.filter((taint) => !hidden(taint));
  const cordoned = node.spec.unschedulable === true && !shown.some(({ key }) => key === UNSCHEDULABLE.key);
  const capacity = parseResources(node.status?.capacity);
  const allocatable = parseResources(node.status?.allocatable);
  return {
    name: node.metadata.name,
    hostname: labels[HOSTNAME] ?? node.metadata.name,
    node,
    claim,
    nodePool: managed ? (labels[NODE_POOL] ?? claim?.metadata.labels?.[NODE_POOL]) : undefined,
    registered,
    initialized,
    markedForDeletion: claim === undefined ? isDeleting(node) : isClaimMarkedForDeletion(claim, disrupting),
    labels: { [HOSTNAME]: node.metadata.name, ...labels },
    taints: cordoned ? [...shown, UNSCHEDULABLE] : shown,
    capacity: initialized ? capacity : filled(capacity, parseResources(claim?.status?.capacity)),
    allocatable: initialized ? allocatable : filled(allocatable, parseResources(claim?.status?.allocatable)),
  };
}

function claimView(claim: NodeClaim, node: Node | undefined, disrupting: ReadonlySet<string>): NodeView {
  const name = claim.metadata.name;
  const labels = claim.metadata.labels ?? {};
  return {
    name,
    hostname: labels[HOSTNAME] ?? node?.metadata.name ?? name,
    node,
    claim,
    nodePool: labels[NODE_POOL],
    registered: false,
    initialized: false,
    markedForDeletion: isClaimMarkedForDeletion(claim, disrupting),
    labels: { [HOSTNAME]: node?.metadata.name ?? name, ...labels },
    taints: claim.spec.taints ?? [],
    capacity: parseResources(claim.status?.capacity),
    allocatable: parseResources(claim.status?.allocatable),
  };
}
