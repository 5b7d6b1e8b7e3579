import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait, and how often to look. The bound is for what never comes: nothing that comes costs more for a longer one. */
export type Patience = {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** What a look may take even when the time is nearly up: on a busy machine one request takes seconds. */
  readonly slowestLookMs?: number;
};

/**
 * Asks `check` again and again until it gives a value that is not false or undefined, and returns that value.
 * A check may throw: it counts as "not yet", and the last error is part of the failure. One that never ends fails too.
 *
 * @param what how the sentence goes on: "a node joins" fails as "a node joins: not within 120 s (…)"
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | false | undefined> | T | false | undefined,
  { timeoutMs = 120_000, everyMs = 100, slowestLookMs = 30_000 }: Patience = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: string;
    try {
      const value = await ended(check, Math.max(deadline - Date.now(), slowestLookMs));
      if (value !== false && value !== undefined) {
        return value;
      }
      last = `the last look found ${String(value)}`;
    } catch (error) {
      last = `the last look failed: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (Date.now() > deadline) {
      throw new Error(`${what}: not within ${timeoutMs / 1000} s (${last})`);
    }
    await sleep(everyMs);
  }
}

/**
 * Looks again and again until no step is undefined, and returns them all: for what several parts write down on their own, some of them late.
 * Fails with the names of the steps that have not come.
 */
export async function everyStep<Steps extends object>(
  what: string,
  look: () => { readonly [Step in keyof Steps]: Steps[Step] | undefined },
  patience: Patience = {},
): Promise<Steps> {
  return await eventually(
    what,
    () => {
      const seen = look();
      const missing = Object.entries(seen).flatMap(([step, value]) => (value === undefined ? [step] : []));
      if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
      return seen as Steps;
    },
    patience,
  );
}

async function ended<T>(check: () => Promise<T> | T, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not ended after ${withinMs / 1000} s`)), withinMs);
  });
  try {
    return await Promise.race([check(), late]);
  } finally {
    clearTimeout(timer);
  }
}
