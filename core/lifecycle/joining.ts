import { lineOf } from "../announcements/log-events.ts";
import type { ConditionChange } from "../model/conditions.ts";
import { REGISTERED, UNREGISTERED_TAINT, ZONE } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { NODE_NOT_FOUND, writeConditions } from "./claim-status.ts";
import { consistency } from "./consistency.ts";
import { heldPoll, heldUntil, nodePoll, readyGroup, takesPods } from "./hold.ts";
import { isNameOf } from "./identity.ts";
import { initializedNode, isInitialized, whatIsMissing } from "./initialization.ts";
import { machineFields } from "./log-fields.ts";
import { markTerminating, NODE_DELETED, timeOut } from "./mark-terminating.ts";
import { hasTaint, isOwnedBy, isRegistered, namedRecord, registeredNode } from "./registration.ts";
import { isRegistrationGivenUp } from "./time-limits.ts";

// A launched NodeClaim until its node is initialized.

/** The next step of a launched NodeClaim toward its registered node. */
export function register(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step {
  const { instance, nodes } = view;
  const held = nodes[0] && nodes.length === 1 ? hold(view, record, nodes[0]) : undefined;
  if (held) return held;
  if (nodes.length > 0 && instance === undefined) return { actions: [], ask: "instance" };
  const own = nodes.filter(({ metadata }) => instance === undefined || instance === "gone" || isNameOf(metadata.name, instance));
  const [node, ...others] = own;
  const canRegister = node !== undefined && others.length === 0;
  const isReady = canRegister && isRegistered(node) && isOwnedBy(node, claim);
  // Whatever keeps the node from registering: its instance is paid for, and its pods wait.
  if (!isReady && isRegistrationGivenUp(record, claim, canRegister, view.now)) return timeOut(view, record, claim, "registration_timeout");
  if (node === undefined || others.length > 0) {
    return { actions: writeConditions(view, claim, [unregistered(view, own)]), ...awaitingNode(view, record) };
  }
  const { name } = node.metadata;
  const isNamed = record.nodeName === name;
  const nameIt: Step = { actions: [{ type: "WriteRecord", ...namedRecord(record, name, view.now) }], again: true };
  if (!isRegistered(node) || !isOwnedBy(node, claim)) {
    const joined = registeredNode(node, claim);
    const isReadyAlready = whatIsMissing(joined, claim) === undefined;
    if (isReadyAlready && !isNamed) return nameIt;
    const write: Action = { type: "WriteNode", node: isReadyAlready ? initializedNode(joined) : joined };
    return { actions: [...taintMissing(node, claim), ...nominatePods(record, node), write], again: true };
  }
  if (!isNamed) return nameIt;
  const named = { ...claim, status: { ...claim.status, nodeName: name } };
  const pool = record.nodePool ?? "";
  const missing = whatIsMissing(node, claim);
  if (missing === undefined && !isInitialized(node)) return labelInitialized(node);
  // One write says both that the node is registered and what it lacks yet, or that it lacks nothing.
  const rest: readonly ConditionChange[] = missing
    ? [{ type: "Initialized", status: "Unknown", ...missing }]
    : initializedChanges(claim, node);
  return {
    actions: [
      { type: "RecordRegistration", claim, outcome: { claim: record.name, registered: true } },
      ...writeConditions(view, named, [{ type: "Registered", status: "True" }, ...rest]),
      { type: "Log", ...lineOf("registered nodeclaim", nodeFields(record, node)) },
      ...(missing ? [] : [initializedLine(record, node)]),
      { type: "Count", metric: "nodes_created_total", labels: { nodepool: pool, zone: node.metadata.labels?.[ZONE] ?? "" } },
      ...nominate(record),
    ],
    again: true,
  };
}

const labelInitialized = (node: Node): Step => ({ actions: [{ type: "WriteNode", node: initializedNode(node) }], again: true });

const initializedChanges = (claim: NodeClaim, node: Node): readonly ConditionChange[] => [
  { type: "Initialized", status: "True" },
  consistency(claim, node).condition,
];

const initializedLine = (record: NodeClaimRecord, node: Node): Action => ({
  type: "Log",
  ...lineOf("initialized nodeclaim", { ...nodeFields(record, node), allocatable: node.status?.allocatable ?? {} }),
});

function hold({ now, otherYoungNodes, hasEventSource }: ClaimView, record: NodeClaimRecord, node: Node): Step | undefined {
  const until = heldUntil(record, node, otherYoungNodes, now);
  if (until !== undefined) return { actions: [], wakeAt: heldPoll(until, now, hasEventSource), waitsFor: "node" };
  const nodes = readyGroup(record, node, otherYoungNodes, now);
  return nodes && { actions: [{ type: "UncordonTogether", nodes }], wakeAt: heldPoll(Number.POSITIVE_INFINITY, now), waitsFor: "node" };
}

/** Why the NodeClaim has no node yet. `own`: nodes of its providerID with a name that the instance may have. */
function unregistered({ nodes, instance }: ClaimView, own: readonly Node[]): ConditionChange {
  const type = "Registered";
  const namesOf = (list: readonly Node[]): string => list.map(({ metadata }) => metadata.name).join(", ");
  if (own.length > 1) {
    const message = `Nodes ${namesOf(own)} share the providerID; delete all but one`;
    return { type, status: "False", reason: "MultipleNodesFound", message };
  }
  if (nodes.length > 0) {
    const named = instance === undefined || instance === "gone" ? "" : ` ${instance.privateDnsName}`;
    const message = `Node ${namesOf(nodes)} has the providerID, but not the name of the instance${named}; delete the node, or let the kubelet take that name`;
    return { type, status: "False", reason: "NodeNameMismatch", message };
  }
  return NODE_NOT_FOUND;
}

const awaitingNode = (
  { now, hasEventSource }: ClaimView,
  record: NodeClaimRecord,
  hasJoined = false,
): Pick<Step, "wakeAt" | "waitsFor"> => ({
  wakeAt: nodePoll(now, record, hasEventSource, hasJoined),
  waitsFor: "node",
});

/**
 * Without the taint, pods may have been bound before registration: the node's user data is not what we rendered.
 * Karpenter logs and publishes the same
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go, Registration.Reconcile).
 */
function taintMissing(node: Node, claim: NodeClaim): readonly Action[] {
  if (hasTaint(node, UNREGISTERED_TAINT) || node.metadata.labels?.[REGISTERED] !== undefined) return [];
  const message = `Missing ${UNREGISTERED_TAINT.key} taint which prevents registration related race conditions on Karpenter-managed nodes`;
  return [
    {
      type: "Log",
      level: "error",
      message: `missing taint ${UNREGISTERED_TAINT.key}:${UNREGISTERED_TAINT.effect}, pods may have come before the node was registered`,
      fields: { Node: { name: node.metadata.name } },
    },
    {
      type: "Event",
      event: { type: "Warning", reason: "UnregisteredTaintMissing", message, about: { kind: "NodeClaim", metadata: claim.metadata } },
    },
  ];
}

/** The next step of a registered NodeClaim toward its initialized node. */
export function initialize(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step {
  const node = view.nodes[0];
  const waiting = awaitingNode(view, record, node !== undefined);
  if (node === undefined) {
    const lost = { type: "Initialized", status: "Unknown", reason: "NodeNotFound", message: "Node not registered with cluster" } as const;
    return { actions: writeConditions(view, claim, [lost]), ...waiting };
  }
  if (node.metadata.deletionTimestamp !== undefined) return markTerminating(view, record, "deleted", { detail: NODE_DELETED });
  const missing = whatIsMissing(node, claim);
  if (missing) return { actions: writeConditions(view, claim, [{ type: "Initialized", status: "Unknown", ...missing }]), ...waiting };
  if (!isInitialized(node)) return labelInitialized(node);
  return { actions: [...writeConditions(view, claim, initializedChanges(claim, node)), initializedLine(record, node)], again: true };
}

function nominatePods({ heldFor = [], podUids: uids }: NodeClaimRecord, node: Node): readonly Action[] {
  const isUseful = heldFor.length > 0 && takesPods(node);
  return isUseful ? [{ type: "NominatePods", pods: heldFor, uids, node: node.metadata.name }] : [];
}

/**
 * Wakes provisioning, which nominates the pods that were planned for the node. The pods of a node that was held are
 * nominated already.
 */
function nominate({ cluster, name, podUids, heldFor }: NodeClaimRecord): readonly Action[] {
  if (podUids.length === 0 || heldFor !== undefined) return [];
  return [{ type: "Wake", wakeUp: { kind: "provision", cluster, cause: "NodeRegistered", detail: name } }];
}

function nodeFields(record: NodeClaimRecord, node: Node) {
  return { ...machineFields(record), Node: { name: node.metadata.name } };
}
