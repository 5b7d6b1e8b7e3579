import { conditionOf, fromRfc3339, isTrue } from "../model/conditions.ts";
import type { Instance } from "../model/instance.ts";
import { UNREGISTERED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { isEphemeralTaint } from "../scheduling/problem/node-view.ts";
import { isNameOf } from "./identity.ts";
import { initializedNode, whatIsMissing } from "./initialization.ts";
import { hasTaint, isRegistered, registeredNode } from "./registration.ts";

/**
 * How long a node is held, ms from its creation. EC2 nodes are Ready 5 to 15 s after they join. A DaemonSet without
 * which the node does not become Ready may not tolerate the taint: then the node is free after this time.
 */
const MAX_HOLD_MS = 20_000;

/**
 * How long a node that is Ready waits for others that started with it, ms. Nodes of one plan are Ready within a few
 * seconds of each other, and a pod that takes another's place costs a machine and its start; one that takes longer must
 * not keep pods from the rest.
 */
const MAX_WAIT_FOR_OTHERS_MS = 8_000;

/**
 * Until when a node takes no pods yet, ms since the epoch; undefined when it may take them. kube-scheduler fills the
 * first node that is Ready with pods of all, and clears the nominations of pods that it tries in vain. So a node that
 * starts together with others keeps the unregistered taint, which it joined with, until it and the others are Ready and
 * free of the taints of their start: then its pods are nominated to it, and the taint is removed right after that.
 * @param others other nodes that are not initialized
 */
export function heldUntil(record: NodeClaimRecord, node: Node, others: readonly Node[], now: number): number | undefined {
  if (record.heldFor === undefined || !hasTaint(node, UNREGISTERED_TAINT)) return undefined;
  const until = takesPods(node)
    ? others.some((other) => isStarting(other, now))
      ? Math.min(readySince(node) + MAX_WAIT_FOR_OTHERS_MS, joinedAt(node) + MAX_HOLD_MS)
      : now
    : joinedAt(node) + MAX_HOLD_MS;
  return now < until ? until : undefined;
}

/**
 * Between two looks at a node that is held, ms: its pods wait for it. Where the webhook tells when the last of the
 * nodes is Ready, they are fewer. No benchmark has tuned it.
 */
const HELD_POLL_MS = 2_000;

/** When to look at a node again that is held until then, ms since the epoch. */
export const heldPoll = (until: number, now: number, isTold = false): number => Math.min(until, now + HELD_POLL_MS * (isTold ? 2 : 1));

/** How long one invocation may take to open nodes together, ms; then each opens its own. No benchmark has tuned it. */
export const OPENING_MS = 3_000;

/** Nodes that one invocation opens: their pods are read and nominated one by one. No benchmark has tuned it. */
const MAX_TOGETHER = 20;

/**
 * The nodes that are to take pods at the same moment as this one, itself included: those that are Ready and have waited
 * for it or with it, by name, in parts of a bounded size. Undefined when there are none, or when it is overdue because
 * who began to open them was killed.
 */
export function readyTogether(record: NodeClaimRecord, node: Node, others: readonly Node[], now: number): readonly Node[] | undefined {
  const isWaiting = (one: Node): boolean => hasTaint(one, UNREGISTERED_TAINT) && takesPods(one);
  if (record.heldFor === undefined || !isWaiting(node)) return undefined;
  const waiting = others.filter(isWaiting);
  const since = Math.max(...[node, ...waiting].map(readySince));
  const isOverdue = !(now < Math.min(since + MAX_WAIT_FOR_OTHERS_MS, joinedAt(node) + MAX_HOLD_MS) + OPENING_MS);
  if (waiting.length === 0 || isOverdue) return undefined;
  const all = [node, ...waiting].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const part = Math.floor(all.indexOf(node) / MAX_TOGETHER);
  return all.slice(part * MAX_TOGETHER, (part + 1) * MAX_TOGETHER);
}

/** What opens a node that is held: its pods are nominated, then the node is written. */
export interface Opening {
  readonly pods: readonly string[];
  readonly uids: readonly string[];
  readonly node: Node;
}

/**
 * How a held node is opened; undefined when it is not the NodeClaim's, or the NodeClaim is not that far or ends. Where
 * the record names the node, the same write says that it is initialized.
 */
export function openingOf(record: NodeClaimRecord, claim: NodeClaim, node: Node, instance: Instance): Opening | undefined {
  const { heldFor, podUids: uids } = record;
  const isLaunched = isTrue(claim.status?.conditions, "Launched") && record.instance?.id === instance.id;
  const isOwn = record.uid === claim.metadata.uid && isNameOf(node.metadata.name, instance);
  const isEnding = record.terminating !== undefined || claim.metadata.deletionTimestamp !== undefined;
  if (heldFor === undefined || !isLaunched || !isOwn || isEnding || isRegistered(node)) return undefined;
  const joined = registeredNode(node, claim);
  const isNamed = record.nodeName === node.metadata.name;
  return { pods: heldFor, uids, node: isNamed && whatIsMissing(joined, claim) === undefined ? initializedNode(joined) : joined };
}

/** Whether nothing but our own taint keeps pods from a node. Startup taints are not looked at: they may stay long. */
export function takesPods({ spec, status }: Node): boolean {
  const others = (spec.taints ?? []).filter(({ key }) => key !== UNREGISTERED_TAINT.key);
  return isTrue(status?.conditions, "Ready") && !others.some(isEphemeralTaint);
}

function isStarting(node: Node, now: number): boolean {
  return hasTaint(node, UNREGISTERED_TAINT) && !takesPods(node) && now < joinedAt(node) + MAX_HOLD_MS;
}

const joinedAt = ({ metadata }: Node): number => fromRfc3339(metadata.creationTimestamp);

/** When the node became Ready, ms since the epoch; when it joined, if that is not told. */
export function readySince(node: Node): number {
  const since = conditionOf(node.status?.conditions, "Ready")?.lastTransitionTime;
  return since === undefined ? joinedAt(node) : fromRfc3339(since);
}
