import { parseArgs } from "node:util";
import type { Fault, Outcome } from "./fault.ts";
import { AREAS, faultsOf } from "./list.ts";
import { Copy } from "./trial.ts";

/*
 * `npm run -s verify -- faults [WORDS] [options]` plants faults one at a time in a copy of the project, and prints
 * which test or which seed of the simulation finds each. Exits 1 when a fault is missed or does not fit the code, 2
 * when the tests fail without a fault.
 */
const USAGE = `npm run -s verify -- faults [WORDS] [options]
  WORDS                       faults whose name or rule contains the words
  --area AREA                 one of ${AREAS.join(", ")}
  --found-by unit|simulation  faults that tests find, or that the simulation finds
  --part K/N                  each N-th fault from the K-th on
  --list                      print the faults and plant none`;

interface Wanted {
  readonly words: string;
  readonly areas: readonly string[];
  readonly foundBy: string | undefined;
  /** From 0. */
  readonly first: number;
  readonly parts: number;
  readonly isList: boolean;
}

function wanted(): Wanted {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      area: { type: "string" },
      "found-by": { type: "string" },
      part: { type: "string", default: "1/1" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { area, "found-by": foundBy } = values;
  if (area !== undefined && !AREAS.includes(area)) throw new Error(`there is no area ${area}; choose one of ${AREAS.join(", ")}`);
  if (foundBy !== undefined && !["unit", "simulation"].includes(foundBy))
    throw new Error(`--found-by is unit or simulation, not ${foundBy}`);
  const [part = 0, parts = 0] = values.part.split("/").map(Number);
  if (!(Number.isInteger(parts) && Number.isInteger(part) && part >= 1 && part <= parts))
    throw new Error(`--part is K/N with K from 1 to N, not ${values.part}`);
  return { words: positionals.join(" "), areas: area === undefined ? AREAS : [area], foundBy, first: part - 1, parts, isList: values.list };
}

interface Placed {
  readonly area: string;
  readonly fault: Fault;
}

async function chosen({ words, areas, foundBy, first, parts }: Wanted): Promise<readonly Placed[]> {
  const all = await Promise.all(areas.map(async (area) => (await faultsOf(area)).map((fault) => ({ area, fault }))));
  return all
    .flat()
    .filter(({ fault }) => foundBy === undefined || fault.foundBy === foundBy)
    .filter(({ fault }) => `${fault.name} ${fault.rule}`.includes(words))
    .filter((_, i) => i % parts === first);
}

function worded(outcome: Outcome): string {
  if (outcome.kind === "found") return `found: ${outcome.by}`;
  return outcome.kind === "missed" ? "MISSED" : `NOT TRIED: ${outcome.why}`;
}

/** Why the tests of these faults say nothing: they fail without a fault. Undefined when they pass. */
function failsAlready(copy: Copy, faults: readonly Placed[]): string | undefined {
  const files = [...new Set(faults.flatMap(({ fault }) => (fault.foundBy === "unit" ? fault.within : [])))];
  if (files.length === 0) return undefined;
  const sound = copy.test(files);
  return sound.kind === "missed" ? undefined : worded(sound);
}

function plant(faults: readonly Placed[]): void {
  using copy = new Copy();
  const already = failsAlready(copy, faults);
  if (already !== undefined) {
    console.error(`the tests must pass before a fault is planted; ${already}`);
    process.exitCode = 2;
    return;
  }
  const counts = { found: 0, missed: 0, "not tried": 0 };
  for (const { area, fault } of faults) {
    const began = performance.now();
    const outcome = copy.try(fault);
    counts[outcome.kind]++;
    console.log(`${area}: ${fault.name} (${fault.rule}): ${worded(outcome)} (${((performance.now() - began) / 1_000).toFixed(0)} s)`);
  }
  console.log(`faults ${faults.length}, found ${counts.found}, missed ${counts.missed}, not tried ${counts["not tried"]}`);
  if (counts.missed + counts["not tried"] > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = wanted();
  const faults = await chosen(options);
  if (faults.length === 0) throw new Error(`no fault fits "${options.words}"; --list prints them`);
  if (!options.isList) return plant(faults);
  for (const { area, fault } of faults) console.log(`${area}: ${fault.name} (${fault.rule}), found by ${fault.foundBy}`);
}

await main().catch((error: Error) => {
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
});
