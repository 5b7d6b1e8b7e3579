/** Runs a check and prints one line. Throws when it fails, because what follows depends on it. */
export type Check = (what: string, body: () => Promise<void>) => Promise<void>;

export interface Tally {
  readonly check: Check;
  readonly passed: () => number;
  readonly failed: () => number;
}

export function tally(): Tally {
  let passed = 0;
  let failed = 0;
  return {
    passed: () => passed,
    failed: () => failed,
    check: async (what, body) => {
      const began = performance.now();
      try {
        await body();
        passed += 1;
        console.log(`ok      ${what} (${((performance.now() - began) / 1_000).toFixed(0)} s)`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}`);
        throw error;
      }
    },
  };
}
