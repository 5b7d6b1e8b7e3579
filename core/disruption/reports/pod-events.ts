import { fnv1a32 } from "../../lib/fnv.ts";
import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import { nodeOwners } from "../../model/node-owner.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";

/**
 * At least so many ms lie between two pod events of a record
 * (karpenter: pkg/controllers/nodeclaim/podevents/controller.go, dedupeTimeout).
 */
const MIN_GAP_MS = 10_000;

/**
 * The records whose node got or lost a pod since the last pass, with the new digest and pod event time. Pods are
 * compared with the digest in the record, so that a replayed, duplicated or lost event changes nothing, and clusters
 * without an event source work too.
 */
export function podEvents(
  { nodes, nodeClaims, pods }: Snapshot,
  records: readonly NodeClaimRecord[],
  now: number,
): readonly NodeClaimRecord[] {
  const { claimOf } = nodeOwners(nodes, nodeClaims);
  const nodeByClaim = new Map(nodes.map((node) => [claimOf(node)?.metadata.name, node.metadata.name]));
  const podsByNode = Map.groupBy(pods.filter(countsAsEvent), ({ spec }) => spec.nodeName ?? "");
  return records.flatMap((record) => {
    const node = nodeByClaim.get(record.name);
    if (node === undefined || record.initializedAt === undefined || record.terminating) return [];
    const present = podsByNode.get(node) ?? [];
    const podsDigest = digest(present);
    if (podsDigest === record.podsDigest || now - (record.lastPodEventAt ?? 0) < MIN_GAP_MS) return [];
    const lastPodEventAt = record.podsDigest === undefined ? latestBinding(present) : now;
    return [{ ...record, podsDigest, ...(lastPodEventAt !== undefined && { lastPodEventAt }) }];
  });
}

/** DaemonSet pods do not count: they come and go with their node. */
function countsAsEvent(pod: Pod): boolean {
  return isActive(pod) && !isDaemonSetPod(pod) && pod.spec.nodeName !== undefined;
}

/** When (ms) the latest pod was bound: the pod event of a record that has no digest yet. */
function latestBinding(pods: readonly Pod[]): number | undefined {
  const times = pods.map((pod) => fromRfc3339(conditionOf(pod.status?.conditions, "PodScheduled")?.lastTransitionTime));
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** The number of pods and the sum of the hashes of their UIDs; independent of their order. */
function digest(pods: readonly Pod[]): string {
  let sum = 0;
  for (const { metadata } of pods) sum = (sum + fnv1a32(metadata.uid ?? metadata.name)) >>> 0;
  return `${pods.length}:${sum.toString(16)}`;
}
