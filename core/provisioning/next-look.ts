import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { arrivalOf } from "./batching-window.ts";

/**
 * How often pods that wait are looked at again while nodes are on their way
 * (karpenter: pkg/controllers/provisioning/controller.go, PodController.Reconcile).
 */
const LOOK_PERIOD_MS = 10_000;

/** The shortest time to the next look, so that something can have changed. No benchmark has tuned it. */
const MIN_LOOK_MS = 5_000;

/**
 * A node joins one to two minutes after its NodeClaim was made. The end of a NodeClaim that is older than this, one way
 * or the other, wakes the planner by itself.
 */
const MAX_JOINING_MS = 3 * 60_000;

/** The records of NodeClaims whose nodes are expected to join. */
export function joining(records: readonly NodeClaimRecord[], now: number): readonly NodeClaimRecord[] {
  return records.filter(
    ({ terminating, initializedAt, createdAt }) =>
      terminating === undefined && initializedAt === undefined && now - createdAt < MAX_JOINING_MS,
  );
}

/**
 * When pods that a plan has left are looked at again without an event, ms since the epoch;
 * undefined when only an event or the sweep can change the answer. While a NodeClaim is on its way, what it leaves of
 * its NodePool's limits, which pods it will take and whether it comes at all is still open. The times of all plans fall
 * on one raster, so that many plans in a short time lead to one look.
 * @param refusedUntil when pods of NodeClaims that the API server has refused are planned again, ms since the epoch
 */
export function nextLook(records: readonly NodeClaimRecord[], now: number, refusedUntil?: number): number | undefined {
  const isJoining = joining(records, now).length > 0;
  const from = isJoining ? now + MIN_LOOK_MS : refusedUntil === undefined ? undefined : Math.max(refusedUntil, now + MIN_LOOK_MS);
  return from === undefined ? undefined : Math.ceil(from / LOOK_PERIOD_MS) * LOOK_PERIOD_MS;
}

/**
 * How long a verdict about a pod may be preliminary, from the moment on at which kube-scheduler gave the pod up. In a
 * cluster that always grows, a pod that no node can take must be reported too.
 */
const MAX_PRELIMINARY_MS = 60_000;

/**
 * Whether what a plan says of a pod that it leaves may be different in a moment, because the pod is new and a NodeClaim
 * is on its way. Such a verdict is no error yet.
 */
export function isPreliminary(pod: Pod | undefined, records: readonly NodeClaimRecord[], now: number): boolean {
  return pod !== undefined && now - arrivalOf(pod) < MAX_PRELIMINARY_MS && nextLook(records, now) !== undefined;
}
