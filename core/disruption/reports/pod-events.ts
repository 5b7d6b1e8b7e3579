import { fnv1a32 } from "../../lib/fnv.ts";
import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import { nodeOwners } from "../../model/node-owner.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";

/** What the last pass saw of the pods on a node. */
export interface PodEvent {
  /** Of the pods that were there: 32 bits. */
  readonly digest: number;
  /** When a pod last came or left, ms since the epoch; absent while no pod has. */
  readonly at?: number;
}

/** By name of the NodeClaim. */
export type PodEvents = ReadonlyMap<string, PodEvent>;

/**
 * At least so many ms lie between two pod events of a NodeClaim
 * (karpenter: pkg/controllers/nodeclaim/podevents/controller.go, dedupeTimeout).
 */
const MIN_GAP_MS = 10_000;

/**
 * The pod events of all NodeClaims with an initialized node; those of nodes that got or lost a pod since the last pass
 * are now. Pods are compared with the digest of the last pass, so that a replayed, duplicated or lost event changes
 * nothing, and clusters without an event source work too.
 */
export function podEvents(
  { nodes, nodeClaims, pods }: Snapshot,
  records: readonly NodeClaimRecord[],
  last: PodEvents,
  now: number,
): PodEvents {
  const { claimOf } = nodeOwners(nodes, nodeClaims);
  const ownNodes = new Map(
    nodes.flatMap((node) => {
      const claim = claimOf(node);
      return claim === undefined ? [] : [[claim.metadata.name, { node, claim }] as const];
    }),
  );
  const podsByNode = Map.groupBy(pods.filter(countsAsEvent), ({ spec }) => spec.nodeName ?? "");
  return new Map(
    records.flatMap((record) => {
      const known = last.get(record.name);
      const own = ownNodes.get(record.name);
      if (own === undefined || record.initializedAt === undefined || record.terminating) return known ? [[record.name, known]] : [];
      const present = podsByNode.get(own.node.metadata.name) ?? [];
      return [[record.name, nextEvent(known, present, now) ?? firstEvent(own.claim, present)]];
    }),
  );
}

/** Undefined when no pass has seen the node before. */
function nextEvent(known: PodEvent | undefined, present: readonly Pod[], now: number): PodEvent | undefined {
  if (known === undefined) return undefined;
  const current = digest(present);
  return current === known.digest || now - (known.at ?? 0) < MIN_GAP_MS ? known : { digest: current, at: now };
}

/** Begins with the latest event of the node: a binding that is left, or an event that was seen before. */
function firstEvent({ status }: NodeClaim, present: readonly Pod[]): PodEvent {
  const times = [...bindingsOf(present), fromRfc3339(status?.lastPodEventTime)];
  const told = times.filter((time) => !Number.isNaN(time));
  return { digest: digest(present), ...(told.length > 0 && { at: Math.max(...told) }) };
}

/** The records with the times of these events. */
export function withPodEvents(records: readonly NodeClaimRecord[], events: PodEvents): readonly NodeClaimRecord[] {
  return records.map((record) => {
    const { at } = events.get(record.name) ?? {};
    return at === undefined ? record : { ...record, lastPodEventAt: at };
  });
}

/** DaemonSet pods do not count: they come and go with their node. */
function countsAsEvent(pod: Pod): boolean {
  return isActive(pod) && !isDaemonSetPod(pod) && pod.spec.nodeName !== undefined;
}

/** When these pods were bound, ms since the epoch; NaN where it is unknown. */
const bindingsOf = (pods: readonly Pod[]): readonly number[] =>
  pods.map((pod) => fromRfc3339(conditionOf(pod.status?.conditions, "PodScheduled")?.lastTransitionTime));

/** Of the number of pods and the sum of the hashes of their UIDs; independent of their order. */
function digest(pods: readonly Pod[]): number {
  let sum = 0;
  for (const { metadata } of pods) sum = (sum + fnv1a32(metadata.uid ?? metadata.name)) >>> 0;
  return fnv1a32(`${pods.length}:${sum.toString(16)}`);
}
