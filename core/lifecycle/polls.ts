/**
 * Polls of a NodeClaim that waits: all of them are sent at once, each with its delay. A poll finds out by one call
 * whether what the NodeClaim waits for has come, and asks for no other. Wake-ups that each ask for the next one are a
 * chain, which Lambda's guard against recursive loops ends after 16.
 */

/** When a NodeClaim is reconciled again, and the polls before that, ms since the epoch. */
export interface Wait {
  readonly wakeAt: number;
  readonly polls: readonly number[];
}

/** Two calls of SendMessageBatch. */
const MAX_POLLS = 20;

/**
 * Shortest and longest time between two polls of a drain, and the longest of one that has lasted; ms. Karpenter checks
 * each second. No benchmark has tuned them.
 */
const MIN_POLL_MS = 1_000;
const MAX_POLL_MS = 3_000;
const MAX_LONG_POLL_MS = 10_000;

/** Polls of what has been waited for since a time, until the time at which it must have come; ms since the epoch. */
export function pollsUntil(until: number, now: number, since: number): Wait {
  const polls: number[] = [];
  let at = now;
  for (;;) {
    const took = at - since;
    at += Math.round(Math.max(Math.min(Math.max(took / 8, MIN_POLL_MS), MAX_POLL_MS), Math.min(took / 60, MAX_LONG_POLL_MS)));
    if (at >= until) return { wakeAt: until, polls };
    if (polls.length === MAX_POLLS) return { wakeAt: at, polls };
    polls.push(at);
  }
}

/** Polls at a fixed period. */
export function pollsEvery(periodMs: number, until: number, now: number): Wait {
  const count = Math.min(MAX_POLLS, Math.ceil((until - now) / periodMs) - 1);
  const polls = Array.from({ length: Math.max(count, 0) }, (_, i) => now + (i + 1) * periodMs);
  return { wakeAt: count === MAX_POLLS ? Math.min(until, now + (MAX_POLLS + 1) * periodMs) : until, polls };
}
