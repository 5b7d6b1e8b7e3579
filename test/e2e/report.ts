import type { E2eWorld } from "./world.ts";

let passed = 0;
let failed = 0;
const figures: [string, string][] = [];

export function startReport(world: E2eWorld): void {
  console.log(`control plane ${world.cluster.server}, account on ${world.ministack.url}, EC2 on ${world.fake.url}`);
}

/** A check failed and has been reported; the later checks of its story depend on it and are skipped. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/** Runs a check and prints one line. Throws CheckFailed when it fails. */
export async function check(what: string, body: () => Promise<void>): Promise<void> {
  const began = performance.now();
  try {
    await body();
    passed++;
    console.log(`ok   ${what.padEnd(88)} ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  } catch (error) {
    failing(what, error);
    throw new CheckFailed(what);
  }
}

/** Counts and prints a failure. */
export function failing(what: string, error: unknown): void {
  failed++;
  console.log(`FAIL ${what}\n     ${error instanceof Error ? error.message : String(error)}`);
}

/** Adds a measured time to the table at the end. */
export function figure(what: string, milliseconds: number): void {
  figures.push([what, `${(milliseconds / 1_000).toFixed(2)} s`]);
}

/** Adds a count to the same table. */
export function count(what: string, number: number): void {
  figures.push([what, String(number)]);
}

export function expect(holds: boolean, found: () => string): void {
  if (!holds) throw new Error(`found ${found()}`);
}

/** Prints the figures once, when `tookMs` is given. */
export function report(tookMs?: number): { readonly passed: number; readonly failed: number } {
  if (tookMs !== undefined) {
    console.log("");
    for (const [what, value] of figures) console.log(`${what.padEnd(88)} ${value.padStart(9)}`);
    console.log(`${"all of it".padEnd(88)} ${`${(tookMs / 1_000).toFixed(0)} s`.padStart(9)}\n`);
  }
  return { passed, failed };
}
