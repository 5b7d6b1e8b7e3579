import { parseDurationOrNever } from "../../lib/duration.ts";
import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";

/** The pool's consolidateAfter in ms; Infinity for Never, 0 without a disruption block. */
export function consolidateAfterMs(pool: NodePool): number {
  return parseDurationOrNever(pool.spec.disruption?.consolidateAfter ?? "0s") ?? Number.POSITIVE_INFINITY;
}

/**
 * From when on (ms since the epoch) a claim is Consolidatable: consolidateAfter past the last pod event, or past
 * initialization without one. Infinity when time alone does not make it so: the claim is not initialized, its pool is
 * static, or consolidateAfter is Never. Without a record (a snapshot file), the condition of the claim decides where it
 * has one (karpenter: pkg/controllers/nodeclaim/disruption/consolidation.go, Consolidation.Reconcile).
 */
export function consolidatableFrom(claim: NodeClaim, pool: NodePool, record: NodeClaimRecord | undefined): number {
  const conditions = claim.status?.conditions;
  const from = settledFrom(claim, pool, record);
  if (from === Number.POSITIVE_INFINITY) return from;
  if (record === undefined && conditionOf(conditions, "Consolidatable")) {
    return isTrue(conditions, "Consolidatable") ? 0 : Number.POSITIVE_INFINITY;
  }
  return from;
}

/**
 * When the consolidateAfter window of a claim's node ends, by the times alone, ms since the epoch. Until then no pod is
 * moved there. Infinity where there is no window that ends, as in `consolidatableFrom`
 * (karpenter: pkg/utils/disruption/disruption.go, IsUnderConsolidateAfter).
 */
export function settledFrom({ status }: NodeClaim, pool: NodePool, record: NodeClaimRecord | undefined): number {
  const after = consolidateAfterMs(pool);
  if (!isTrue(status?.conditions, "Initialized") || pool.spec.replicas != null) return Number.POSITIVE_INFINITY;
  const lastPodEvent = record?.lastPodEventAt ?? (status?.lastPodEventTime ? fromRfc3339(status.lastPodEventTime) : undefined);
  return (lastPodEvent ?? fromRfc3339(conditionOf(status?.conditions, "Initialized")?.lastTransitionTime)) + after;
}
