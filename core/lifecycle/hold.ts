import { conditionOf, fromRfc3339, isTrue } from "../model/conditions.ts";
import type { Instance } from "../model/instance.ts";
import { UNREGISTERED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { MIN_BOOT_MS } from "../provisioning/pending-pods.ts";
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
 * Between two checks of a node that is held, ms: its pods wait for it. Where the webhook reports that the last of the
 * nodes is Ready, they are fewer. No benchmark has tuned it.
 */
const HELD_POLL_MS = 2_000;

/** When to check a node again that is held until then, ms since the epoch. */
export const heldPoll = (until: number, now: number, hasEventSource = false): number =>
  Math.min(until, now + HELD_POLL_MS * (hasEventSource ? 2 : 1));

/**
 * When to check for a change of the node, ms since the epoch. A node joins 30 to 60 s after its launch: check every 5 s
 * for two minutes, then every 10 s. Where the webhook or the audit log reports that it has joined, lost a taint or is
 * Ready, a check each 30 s finds what they have missed; each 20 s, where a node is held for at most so long; each 15 s,
 * once it has joined. No benchmark has tuned it.
 */
export function nodePoll(now: number, record: NodeClaimRecord, hasEventSource = false, hasJoined = false): number {
  const since = record.launchedAt ?? record.createdAt;
  const unjoined = record.heldFor === undefined ? 30_000 : 20_000;
  const reported = hasJoined ? 15_000 : unjoined;
  const period = hasEventSource ? reported : now - since < 2 * 60_000 ? 5_000 : 10_000;
  return Math.max(now + period, since + MIN_BOOT_MS);
}

/**
 * How long one invocation may take to uncordon a group of nodes, ms; then each is uncordoned by itself. No benchmark
 * has tuned it.
 */
export const UNCORDON_MS = 3_000;

/** Nodes that one invocation uncordons: their pods are read and nominated one by one. No benchmark has tuned it. */
const MAX_GROUP = 20;

/**
 * The nodes that are to take pods at the same moment as this one, itself included: those that are Ready and have waited
 * for it or with it, by name, in parts of a bounded size. Undefined when there are none, or when it is overdue because
 * the pass that began to uncordon them was killed.
 */
export function readyGroup(record: NodeClaimRecord, node: Node, others: readonly Node[], now: number): readonly Node[] | undefined {
  const isWaiting = (one: Node): boolean => hasTaint(one, UNREGISTERED_TAINT) && takesPods(one);
  if (record.heldFor === undefined || !isWaiting(node)) return undefined;
  const waiting = others.filter(isWaiting);
  const since = Math.max(...[node, ...waiting].map(readySince));
  const isOverdue = !(now < Math.min(since + MAX_WAIT_FOR_OTHERS_MS, joinedAt(node) + MAX_HOLD_MS) + UNCORDON_MS);
  if (waiting.length === 0 || isOverdue) return undefined;
  const all = [node, ...waiting].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const part = Math.floor(all.indexOf(node) / MAX_GROUP);
  return all.slice(part * MAX_GROUP, (part + 1) * MAX_GROUP);
}

/** How a held node is uncordoned: its pods are nominated, then the node is written. */
export interface Uncordon {
  readonly pods: readonly string[];
  readonly uids: readonly string[];
  readonly node: Node;
}

/**
 * How a held node is uncordoned; undefined when it is not the NodeClaim's, or the NodeClaim is not that far or ends.
 * Where the record names the node, the same write says that it is initialized.
 */
export function uncordonOf(record: NodeClaimRecord, claim: NodeClaim, node: Node, instance: Instance): Uncordon | undefined {
  const { heldFor, podUids: uids } = record;
  const isLaunched = isTrue(claim.status?.conditions, "Launched") && record.instance?.id === instance.id;
  const isOwn = record.uid === claim.metadata.uid && isNameOf(node.metadata.name, instance);
  const isEnding = record.terminating !== undefined || claim.metadata.deletionTimestamp !== undefined;
  if (heldFor === undefined || !isLaunched || !isOwn || isEnding || isRegistered(node)) return undefined;
  const joined = registeredNode(node, claim);
  const isNamed = record.nodeName === node.metadata.name;
  return { pods: heldFor, uids, node: isNamed && whatIsMissing(joined, claim) === undefined ? initializedNode(joined) : joined };
}

/** Whether our own taint alone keeps pods from a node. Startup taints do not count: they may stay long. */
export function takesPods({ spec, status }: Node): boolean {
  const others = (spec.taints ?? []).filter(({ key }) => key !== UNREGISTERED_TAINT.key);
  return isTrue(status?.conditions, "Ready") && !others.some(isEphemeralTaint);
}

function isStarting(node: Node, now: number): boolean {
  return hasTaint(node, UNREGISTERED_TAINT) && !takesPods(node) && now < joinedAt(node) + MAX_HOLD_MS;
}

const joinedAt = ({ metadata }: Node): number => fromRfc3339(metadata.creationTimestamp);

/** When the node became Ready, ms since the epoch; when it joined, if the condition does not say. */
export function readySince(node: Node): number {
  const since = conditionOf(node.status?.conditions, "Ready")?.lastTransitionTime;
  return since === undefined ? joinedAt(node) : fromRfc3339(since);
}
