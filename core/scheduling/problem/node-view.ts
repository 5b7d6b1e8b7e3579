import { oncePer } from "../../lib/once-per.ts";
import { isTrue } from "../../model/conditions.ts";
import { HOSTNAME, INITIALIZED, INSTANCE_TYPE, NODE_CLASS, NODE_POOL, REGISTERED } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import { parseResources, type Resources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Taint } from "../../model/taint.ts";

/** A machine as scheduling sees it: a Node, a launched NodeClaim, or both joined by providerID (nodeclaim-lifecycle.md §7). */
export interface NodeView {
  /** Name of the Node; of the NodeClaim while there is no registered Node. */
  readonly name: string;
  /** Value of the hostname label, else the name. */
  readonly hostname: string;
  readonly node: Node | undefined;
  readonly claim: NodeClaim | undefined;
  readonly nodePool: string | undefined;
  readonly registered: boolean;
  readonly initialized: boolean;
  /** In a running disruption command, deleting, or its instance is being terminated. */
  readonly markedForDeletion: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** What pods must tolerate: startup and known ephemeral taints are hidden until the node is initialized. */
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const EPHEMERAL = new Set([
  "node.kubernetes.io/not-ready:NoSchedule",
  "node.kubernetes.io/not-ready:NoExecute",
  "node.kubernetes.io/unreachable:NoSchedule",
  "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule",
  "karpenter.sh/unregistered:NoExecute",
]);

/** Taints that come and go while a node starts, and say nothing about which pods it will take. */
export function isEphemeralTaint(taint: Taint): boolean {
  return EPHEMERAL.has(`${taint.key}:${taint.effect}`) || taint.key.startsWith("readiness.k8s.io/");
}

/** Values of the node, with zero or missing ones filled from the claim: a device plugin may not have reported yet. */
function filled(own: Resources, promised: Resources): Resources {
  const result: Record<string, number> = { ...own };
  for (const name in promised) if ((result[name] ?? 0) === 0) result[name] = promised[name] ?? 0;
  return result;
}

/** All machines of a snapshot, by name. Claims without a providerID are intents and not yet capacity; they are left out. */
export const nodeViews: (snapshot: Snapshot) => readonly NodeView[] = oncePer((snapshot) => {
  const claimByProvider = new Map<string, NodeClaim>();
  for (const claim of snapshot.nodeClaims) {
    const id = claim.status?.providerID;
    if (id) claimByProvider.set(id, claim);
  }
  const views: NodeView[] = [];
  const joined = new Set<NodeClaim>();
  for (const node of snapshot.nodes) {
    const claim = node.spec.providerID ? claimByProvider.get(node.spec.providerID) : undefined;
    if (claim !== undefined) joined.add(claim);
    const view = nodeView(node, claim, snapshot.disrupting);
    if (view !== undefined) views.push(view);
  }
  for (const claim of claimByProvider.values()) {
    if (!joined.has(claim)) views.push(claimView(claim, undefined, snapshot.disrupting));
  }
  return views.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
});

function isDeleting(object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;
}

function isClaimGoing(claim: NodeClaim, disrupting: ReadonlySet<string>): boolean {
  return disrupting.has(claim.metadata.name) || isDeleting(claim) || isTrue(claim.status?.conditions, "InstanceTerminating");
}

function nodeView(node: Node, claim: NodeClaim | undefined, disrupting: ReadonlySet<string>): NodeView | undefined {
  const labels = node.metadata.labels ?? {};
  const managed = claim !== undefined || labels[NODE_CLASS] !== undefined;
  const registered = !managed || labels[REGISTERED] === "true";
  const initialized = !managed || labels[INITIALIZED] === "true";
  if (claim === undefined && managed) {
    // Karpenter admits such a Node once its providerID and instance type are known; the claim may simply not be read yet.
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
    nodePool: labels[NODE_POOL] ?? claim?.metadata.labels?.[NODE_POOL],
    registered,
    initialized,
    markedForDeletion: claim === undefined ? isDeleting(node) : isClaimGoing(claim, disrupting),
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
    markedForDeletion: isClaimGoing(claim, disrupting),
    labels: { [HOSTNAME]: node?.metadata.name ?? name, ...labels },
    taints: claim.spec.taints ?? [],
    capacity: parseResources(claim.status?.capacity),
    allocatable: parseResources(claim.status?.allocatable),
  };
}
