import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks `check` again and again until it gives a value that is not false or undefined, and returns that value.
 * A check may throw: it counts as "not yet", and the last error is part of the failure.
 *
 * @param what how the sentence goes on: "a node joins" fails as "a node joins: not within 30 s (…)"
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | false | undefined> | T | false | undefined,
  { timeoutMs = 30_000, everyMs = 100 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: string;
    try {
      const value = await check();
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
