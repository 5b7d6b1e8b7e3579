import { setTimeout as sleep } from "node:timers/promises";

/** A clock and a sleep; replaced in tests. */
export interface Pacemaker {
  /** Milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const REAL: Pacemaker = { now: () => performance.now(), sleep };

/**
 * A token bucket: `burst` calls at once, `rate` per second on average. Further callers wait for their turn, in order. A
 * warm function shares its bucket between invocations; functions that run at the same time do not share one.
 */
export function tokenBucket(
  { rate, burst }: { readonly rate: number; readonly burst: number },
  { now, sleep: wait } = REAL,
): () => Promise<void> {
  let tokens = burst;
  let countedAt = now();
  return async () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - countedAt) / 1_000) * rate) - 1;
    countedAt = at;
    // Below zero: the call has taken a token that is not there yet.
    if (tokens < 0) await wait((-tokens / rate) * 1_000);
  };
}
