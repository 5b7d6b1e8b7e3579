import { conditionOf, fromRfc3339, isTrue } from "../model/conditions.ts";
import { UNREGISTERED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { isEphemeralTaint } from "../scheduling/problem/node-view.ts";
import { hasTaint } from "./registration.ts";

/**
 * How long a node is held, ms from its creation. EC2 nodes are Ready 5 to 15 s after they join. A DaemonSet without
 * which the node does not become Ready may not tolerate the taint: then the node is free after this time.
 */
const MAX_HOLD_MS = 20_000;

/**
 * How long a node that is Ready waits for others that started with it, ms. Nodes of one plan are Ready within a few
 * seconds of each other; one that takes longer must not keep pods from the rest.
 */
const MAX_WAIT_FOR_OTHERS_MS = 4_000;

/**
 * Until when a node takes no pods yet, ms since the epoch; undefined when it may take them. kube-scheduler fills the
 * first node that is Ready with pods of all, and clears the nominations of pods that it tries in vain. So a node that
 * starts together with others keeps the unregistered taint, which it joined with, until it and the others are Ready and
 * free of the taints of their start: then its pods are nominated to it, and the taint is removed right after that.
 * @param others other nodes that are not initialized
 */
export function heldUntil(record: NodeClaimRecord, node: Node, others: readonly Node[], now: number): number | undefined {
  if (!record.heldFor?.length || !hasTaint(node, UNREGISTERED_TAINT)) return undefined;
  const until = takesPods(node)
    ? others.some((other) => isStarting(other, now))
      ? Math.min(readySince(node) + MAX_WAIT_FOR_OTHERS_MS, joinedAt(node) + MAX_HOLD_MS)
      : now
    : joinedAt(node) + MAX_HOLD_MS;
  return now < until ? until : undefined;
}

/**
 * The nodes that wait for this one and nothing else: it is the last that became Ready. Equal times go by name, so that
 * one of them tells the rest.
 */
export function waitingFor(node: Node, others: readonly Node[]): readonly Node[] {
  const waiting = others.filter((other) => hasTaint(other, UNREGISTERED_TAINT) && takesPods(other));
  const isLast = waiting.every((other) => {
    const later = readySince(node) - readySince(other);
    return later > 0 || (later === 0 && node.metadata.name > other.metadata.name);
  });
  return isLast ? waiting : [];
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
function readySince(node: Node): number {
  const since = conditionOf(node.status?.conditions, "Ready")?.lastTransitionTime;
  return since === undefined ? joinedAt(node) : fromRfc3339(since);
}
