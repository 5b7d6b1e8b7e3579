import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { removeDir } from "../support/child.ts";
import { CASES, type Case, stepsOf } from "./cases.ts";
import { compared } from "./compare.ts";
import { playInLab } from "./lab-side.ts";
import type { Outcome } from "./outcome.ts";
import { playInCluster } from "./real-side.ts";

/**
 * Plays each case on a real control plane and in the lab, there with up to 200 seeds, and compares the outcomes. Exit
 * code 1 when the real outcome is none of those that the lab's draws lead to.
 *
 *     npm run -s verify -- lab-parity [CASE...] [--seeds 200] [--clusters 3] [--verbose]
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "200" },
    clusters: { type: "string", default: "3" },
    verbose: { type: "boolean", default: false },
  },
});
/** How many seeds are played even when the first has the real outcome, to count the outcomes. */
const MIN_SEEDS = 20;
const unknown = positionals.filter((name) => !CASES.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(`there is no case ${unknown[0]}; the cases are ${CASES.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "lab-parity-"));
const waiting = CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let differing = 0;

async function play(one: Case): Promise<void> {
  const steps = stepsOf(one);
  const real = await playInCluster(steps, join(folder, one.name));
  const inLab: Outcome[] = [];
  const isReached = (): boolean => inLab.some((outcome) => JSON.stringify(outcome) === JSON.stringify(real));
  for (let seed = 1; seed <= Number(values.seeds) && (seed <= MIN_SEEDS || !isReached()); seed++) inLab.push(await playInLab(steps, seed));
  const { differences, outcomes } = compared(real, inLab);
  const verdict = differences.length === 0 ? "same     " : one.explained === undefined ? "DIFFERENT" : "explained";
  const drawn = outcomes === 1 ? "" : `, ${outcomes} outcomes by draw`;
  const lines = [`${verdict} ${one.name}: ${one.about}${drawn}`, ...differences.map((line) => `         ${line}`)];
  console.log([...lines, ...(values.verbose ? [JSON.stringify(real, undefined, 2)] : [])].join("\n"));
  if (verdict === "DIFFERENT") differing++;
}

// Most of a case is waiting, so several clusters share the machine.
const worker = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await play(next);
};
try {
  await Promise.all(Array.from({ length: Number(values.clusters) }, worker));
} finally {
  removeDir(folder);
}
process.exitCode = differing > 0 ? 1 : 0;
