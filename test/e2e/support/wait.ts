import { setTimeout as sleep } from "node:timers/promises";

/**
 * The limit and the interval of a wait. The limit is for what never happens; a longer limit does not slow down a
 * success.
 */
export type Patience = {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** Minimum time for one check, even near the limit, because on a busy machine one request takes seconds. */
  readonly slowestLookMs?: number;
};

/**
 * Calls `check` repeatedly until it returns a value that is not false or undefined, and returns that value. A check
 * that throws counts as "not yet", and the last error is part of the failure. A check that never ends fails too.
 *
 * @param what the subject of the failure's sentence: "a node joins" fails as "a node joins: not within 120 s (…)"
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
 * Calls `look` repeatedly until no step is undefined, and returns all steps: for steps that several processes log
 * independently, some of them late. Fails with the names of the missing steps.
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
