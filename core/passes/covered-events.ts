import { PLAN_HELD_BACK_MS } from "../ports/wake-ups.ts";
import { UNTIL_WRITTEN_MS } from "../signals/signal.ts";

/** By how much the clocks of the queue and of a process may differ, ms. */
const CLOCK_TOLERANCE_MS = 500;

/**
 * Until when the change of a wake-up has been written, ms from the time at which the wake-up was sent: the queue drops
 * other wake-ups of the same second, and the webhook is called before the write.
 */
const WRITTEN_AFTER_MS = PLAN_HELD_BACK_MS + UNTIL_WRITTEN_MS + CLOCK_TOLERANCE_MS;

/**
 * Whether a full read of the pods covers a wake-up. Wake-ups that are sent while a plan is made wait behind it in the
 * FIFO queue, one for each second of a burst; the next full read covers every event sent before it.
 * @param sentAt when the wake-up was sent, ms since the epoch; NaN when the message does not say
 * @param readAt when the last full read began; one in the future is a clock that was set back
 */
export const isCovered = (sentAt: number, readAt: number | undefined, now: number): boolean =>
  readAt !== undefined && readAt <= now && sentAt + WRITTEN_AFTER_MS <= readAt;
