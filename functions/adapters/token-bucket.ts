import { setTimeout as sleep } from "node:timers/promises";

/** A clock that can be waited on; a seam for tests. */
export interface Pacemaker {
  /** Milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const REAL: Pacemaker = { now: () => performance.now(), sleep };

/**
 * Lets through `burst` at once and `rate` a second in the long run. Who is over it waits for its turn, in order. A warm function is paced across its calls;
 * functions that run at the same time are not paced against each other.
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
    // Below nothing: the request has taken a token that is still to come.
    if (tokens < 0) await wait((-tokens / rate) * 1_000);
  };
}
