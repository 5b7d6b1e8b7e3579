import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { arrivalOf } from "../provisioning/pending-pods.ts";

/**
 * How often pods that wait are planned for again while nodes are on their way
 * (karpenter: pkg/controllers/provisioning/controller.go, PodController.Reconcile).
 */
const PLAN_PERIOD_MS = 10_000;

/** The shortest time to the next plan, so that something can have changed. */
const MIN_WAIT_MS = 5_000;

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

/** When something that pods wait for ends by itself, each in ms since the epoch. */
interface WaitEnds {
  /** Pods of NodeClaims that the API server has refused are planned again. */
  readonly refusedUntil?: number | undefined;
  /** The first offering is tried again that could serve some of them (Plan.retriedAt). */
  readonly retriedAt?: number | undefined;
}

/**
 * When pods that a plan has left are planned for again without an event, ms since the epoch; undefined when only an
 * event or the sweep can change the plan. While a NodeClaim is on its way, what it leaves of its NodePool's limits,
 * which pods it will take and whether it comes at all is still open. The times of all plans fall on one raster, so that
 * many plans in a short time lead to one more; the end of a wait is met to the second.
 */
export function nextPlan(records: readonly NodeClaimRecord[], now: number, { refusedUntil, retriedAt }: WaitEnds = {}): number | undefined {
  const isJoining = joining(records, now).length > 0;
  const earliest = now + MIN_WAIT_MS;
  const from = isJoining ? earliest : refusedUntil === undefined ? undefined : Math.max(refusedUntil, earliest);
  const onRaster = from === undefined ? [] : [Math.ceil(from / PLAN_PERIOD_MS) * PLAN_PERIOD_MS];
  const atEnd = retriedAt === undefined ? [] : [Math.ceil(Math.max(retriedAt, earliest) / 1_000) * 1_000];
  const times = [...onRaster, ...atEnd];
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * How long a reason may be preliminary, from the time at which kube-scheduler gave the pod up. In a
 * cluster that always grows, a pod that no node can take must be reported too.
 */
const MAX_PRELIMINARY_MS = 60_000;

/**
 * Whether the reason of a plan for a pod that it leaves may change in a moment, because the pod is new and a NodeClaim
 * is on its way. Such a reason is no error yet.
 */
export function isPreliminary(pod: Pod | undefined, records: readonly NodeClaimRecord[], now: number): boolean {
  return pod !== undefined && now - arrivalOf(pod) < MAX_PRELIMINARY_MS && nextPlan(records, now) !== undefined;
}
