import { fromRfc3339, isTrue } from "../model/conditions.ts";
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
 * Until when a node takes no pods yet, ms since the epoch; undefined when it may take them. kube-scheduler fills the
 * first node that is Ready with pods of all, and clears the nominations of pods that it tries in vain. So a node that
 * starts together with others keeps the unregistered taint, which it joined with, until it is Ready and free of the
 * taints of its start: then its pods are nominated to it, and the taint is removed right after that.
 */
export function heldUntil(record: NodeClaimRecord, node: Node, now: number): number | undefined {
  const until = fromRfc3339(node.metadata.creationTimestamp) + MAX_HOLD_MS;
  const isHeld = Boolean(record.heldFor?.length) && hasTaint(node, UNREGISTERED_TAINT) && !takesPods(node);
  return isHeld && now < until ? until : undefined;
}

/** Whether nothing but our own taint keeps pods from a node. Startup taints are not looked at: they may stay long. */
export function takesPods({ spec, status }: Node): boolean {
  const others = (spec.taints ?? []).filter(({ key }) => key !== UNREGISTERED_TAINT.key);
  return isTrue(status?.conditions, "Ready") && !others.some(isEphemeralTaint);
}
