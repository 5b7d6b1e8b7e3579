import { parseDurationOrNever } from "../../lib/duration.ts";
import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";

/** Milliseconds; Infinity for Never. A pool without a disruption block consolidates at once (nodepool.md §1). */
export function consolidateAfterMs(pool: NodePool): number {
  return parseDurationOrNever(pool.spec.disruption?.consolidateAfter ?? "0s") ?? Number.POSITIVE_INFINITY;
}

/**
 * From when on (ms) a claim is Consolidatable: consolidateAfter past the last pod event, or past initialization when there was none.
 * Infinity when no time will make it so: not initialized, a static pool, or Never (nodeclaim-lifecycle.md §9). Without a record
 * (a snapshot file), the condition that the claim carries is believed.
 */
export function consolidatableFrom(claim: NodeClaim, pool: NodePool, record: NodeClaimRecord | undefined): number {
  const conditions = claim.status?.conditions;
  const after = consolidateAfterMs(pool);
  if (!isTrue(conditions, "Initialized") || pool.spec.replicas != null || after === Number.POSITIVE_INFINITY)
    return Number.POSITIVE_INFINITY;
  if (record === undefined && conditionOf(conditions, "Consolidatable")) {
    return isTrue(conditions, "Consolidatable") ? 0 : Number.POSITIVE_INFINITY;
  }
  const lastPodEvent = record?.lastPodEventAt ?? (claim.status?.lastPodEventTime ? fromRfc3339(claim.status.lastPodEventTime) : undefined);
  return (lastPodEvent ?? fromRfc3339(conditionOf(conditions, "Initialized")?.lastTransitionTime)) + after;
}
