import { PLAN_HELD_BACK_MS } from "#core/ports/wake-ups.ts";
import { UNTIL_WRITTEN_MS } from "#core/signals/signal.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

// Wake-ups that are sent while a plan is made wait behind it in the FIFO queue, one for each second of a burst. What
// they tell of, the first look after them sees.

/** By how much the clocks of the queue and of this process may differ, ms. */
const CLOCK_TOLERANCE_MS = 500;

/**
 * Until when what a wake-up tells of has been written, ms from the time at which it was sent: the queue drops other
 * wake-ups of the same second, and the webhook tells before the write.
 */
const TELLS_OF_MS = PLAN_HELD_BACK_MS + UNTIL_WRITTEN_MS + CLOCK_TOLERANCE_MS;

/** Notes that all pods have been looked at, and what they need has been done. */
export function noteLook(beganAt: number, { memory, now }: Pick<ClusterDeps, "memory" | "now">): void {
  const last = Math.max(beganAt, memory.recall("fullRead", now()) ?? Number.NEGATIVE_INFINITY);
  memory.keep("fullRead", last, last);
}

/** Whether a look of this process has seen what a wake-up of this age tells of. */
export function isSeenAlready(sentAt: number, { memory, now }: Pick<ClusterDeps, "memory" | "now">): boolean {
  const last = memory.recall("fullRead", now());
  // A look in the future is a clock that was set back.
  return last !== undefined && last <= now() && sentAt + TELLS_OF_MS <= last;
}
