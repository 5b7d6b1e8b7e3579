import { fnv1a32 } from "../../lib/fnv.ts";
import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";

/** A record is written for this at most once in so many ms (nodeclaim-lifecycle.md §9). */
const LEAST_GAP_MS = 10_000;

/**
 * Records whose node got or lost a pod since it was last looked at. Told by comparing what is there with a fingerprint of what was: an
 * event that is replayed, doubled or lost changes nothing (traps.md 7), and clusters without any event source are served alike.
 */
export function podEvents(
  { nodes, nodeClaims, pods }: Snapshot,
  records: readonly NodeClaimRecord[],
  now: number,
): readonly NodeClaimRecord[] {
  const nodeByProvider = new Map(nodes.map((node) => [node.spec.providerID ?? "", node.metadata.name]));
  const nodeByClaim = new Map(nodeClaims.map(({ metadata, status }) => [metadata.name, nodeByProvider.get(status?.providerID ?? "")]));
  const podsByNode = Map.groupBy(pods.filter(countsAsEvent), ({ spec }) => spec.nodeName ?? "");
  return records.flatMap((record) => {
    const node = nodeByClaim.get(record.name);
    if (node === undefined || record.initializedAt === undefined || record.terminating) return [];
    const present = podsByNode.get(node) ?? [];
    const podsDigest = digest(present);
    if (podsDigest === record.podsDigest || now - (record.lastPodEventAt ?? 0) < LEAST_GAP_MS) return [];
    const lastPodEventAt = record.podsDigest === undefined ? latestBinding(present) : now;
    return [{ ...record, podsDigest, ...(lastPodEventAt !== undefined && { lastPodEventAt }) }];
  });
}

function countsAsEvent(pod: Pod): boolean {
  return isActive(pod) && !isDaemonSetPod(pod) && pod.spec.nodeName !== undefined;
}

/** At the first look nothing is known of what went before, but pods say when they were bound. */
function latestBinding(pods: readonly Pod[]): number | undefined {
  const times = pods.map((pod) => fromRfc3339(conditionOf(pod.status?.conditions, "PodScheduled")?.lastTransitionTime));
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Order does not count: the sum of the hashes of the UIDs, and how many there are. */
function digest(pods: readonly Pod[]): string {
  let sum = 0;
  for (const { metadata } of pods) sum = (sum + fnv1a32(metadata.uid ?? metadata.name)) >>> 0;
  return `${pods.length}:${sum.toString(16)}`;
}
