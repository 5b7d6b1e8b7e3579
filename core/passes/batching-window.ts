import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import type { WakeUpReason } from "../ports/wake-up-causes.ts";
import { PLAN_HELD_BACK_MS } from "../ports/wake-ups.ts";
import { arrivalOf } from "../provisioning/pending-pods.ts";

/** BATCH_IDLE_DURATION and BATCH_MAX_DURATION, ms. */
export interface BatchSettings {
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
}

/**
 * How long a plan waits for further pods, ms. The queue has held the wake-up back, so pods that it names by their
 * number need no second window; for any other cause the window of pods that have only just become pending is still
 * open.
 */
export function batchingWait(
  reason: WakeUpReason<"provision">,
  pending: readonly Pod[],
  records: readonly NodeClaimRecord[],
  { now, batchIdleMs, batchMaxMs }: BatchSettings & { readonly now: number },
): number {
  const unbound = pending.filter(({ spec }) => spec.nodeName === undefined);
  const announced = reason.cause === "PodsUnschedulable" && batchIdleMs <= PLAN_HELD_BACK_MS ? Number(reason.detail) : 0;
  const plannedAt = Math.max(0, ...records.map(({ createdAt }) => createdAt));
  return windowLeft(unbound, { now, idleMs: batchIdleMs, maxMs: batchMaxMs, announced, plannedAt });
}

/** What a batching window is judged by. Times are ms, since the epoch where they are points in time. */
interface BatchingWindow {
  readonly now: number;
  /** BATCH_IDLE_DURATION: the window ends when no pod has come for this long. */
  readonly idleMs: number;
  /** BATCH_MAX_DURATION: the window ends this long after its first pod. */
  readonly maxMs: number;
  /**
   * How many pods the wake-up is for: the queue has held it back, and unless there are more new pods than these, no
   * pod has come since.
   */
  readonly announced: number;
  /** When the last plan was made: pods that it has seen begin no window. */
  readonly plannedAt: number;
}

/** The API server stamps conditions with whole seconds: a stamp means the second that begins with it. */
const STAMP_STEP_MS = 1_000;

/**
 * How long the batching window of the pods stays open, ms; 0 when a plan can be made now. The window grows with each
 * pod that comes, as in Karpenter (karpenter: pkg/controllers/provisioning/batcher.go, Batcher.Wait), but a pod's
 * arrival is known to a second only, so the middle of that second is taken for it.
 */
export function windowLeft(pods: readonly Pod[], { now, idleMs, maxMs, announced, plannedAt }: BatchingWindow): number {
  const arrivals = pods.map((pod) => arrivalOf(pod) + STAMP_STEP_MS / 2).filter((at) => !Number.isNaN(at));
  // An arrival in the future is a clock that is wrong: nothing is waited for.
  const coming = arrivals.filter((at) => now - at < idleMs && at - now < STAMP_STEP_MS);
  // Right after a plan, pods that come may be the rest of a burst.
  if (coming.length === 0 || (coming.length <= announced && now - plannedAt >= idleMs)) return 0;
  const first = firstOf(arrivals, idleMs, plannedAt);
  return Math.max(0, Math.min(Math.max(...coming) + idleMs, first + maxMs) - now);
}

/** When the window began: the first of the latest pods that came without a pause. */
function firstOf(arrivals: readonly number[], idleMs: number, plannedAt: number): number {
  const latestFirst = arrivals.filter((at) => at + STAMP_STEP_MS / 2 > plannedAt).sort((a, b) => b - a);
  const pause = latestFirst.findIndex((at, i) => at - (latestFirst[i + 1] ?? Number.NEGATIVE_INFINITY) > idleMs + STAMP_STEP_MS);
  return latestFirst[pause] ?? Number.POSITIVE_INFINITY;
}
