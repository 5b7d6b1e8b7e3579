import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Mutation, MutationResult } from "./mutation.ts";
import { Copy } from "./trial.ts";

/**
 * Mutation tests: `node test/mutations/run.ts [--area scheduling] [--only NAME]` breaks the rules of areas/*.ts one at
 * a time in a copy of the project, runs the tests that each rule names, and prints which of them fail. Exits 1 when no
 * test fails or when a text no longer stands in the code, 2 when the tests fail without a mutation. The project itself
 * is never changed.
 */
const AREAS = join(import.meta.dirname, "areas");

async function mutationsOf(area: string): Promise<readonly Mutation[]> {
  const { MUTATIONS } = (await import(join(AREAS, `${area}.ts`))) as { readonly MUTATIONS: readonly Mutation[] };
  return MUTATIONS;
}

function say({ name, rule, file }: Mutation, outcome: MutationResult): string {
  const what = `${name} (${rule})`;
  switch (outcome.kind) {
    case "caught":
      return `caught    ${what}: ${outcome.by}`;
    case "survived":
      return `SURVIVED  ${what}: no test noticed`;
    case "not found":
      return `NOT FOUND ${what}: the text stands ${outcome.times} times in ${file}; bring the list up to date`;
    case "no answer":
      return `NO ANSWER ${what}: ${outcome.why}`;
  }
}

function options() {
  try {
    return parseArgs({ options: { area: { type: "string" }, only: { type: "string" } } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}; the options are --area AREA and --only NAME`);
    process.exit(2);
  }
}

const values = options();
const known = readdirSync(AREAS).map((file) => file.replace(/\.ts$/, ""));
if (values.area !== undefined && !known.includes(values.area)) {
  console.error(`there is no area ${values.area}; choose one of ${known.join(", ")}`);
  process.exit(2);
}
using copy = new Copy();
const counts = { caught: 0, survived: 0, broken: 0 };
for (const area of values.area === undefined ? known : [values.area]) {
  const mutations = (await mutationsOf(area)).filter(({ name }) => values.only === undefined || name === values.only);
  const sound = copy.run([...new Set(mutations.flatMap(({ tests }) => tests))]);
  if (sound.kind !== "survived") {
    console.error(`${area}: the tests must pass before rules are broken, but: ${sound.kind === "caught" ? sound.by : "they do not run"}`);
    process.exitCode = 2;
    continue;
  }
  for (const mutation of mutations) {
    const outcome = copy.try(mutation);
    counts[outcome.kind === "caught" || outcome.kind === "survived" ? outcome.kind : "broken"]++;
    console.log(`${area}: ${say(mutation, outcome)}`);
  }
}
console.log(`${counts.caught} caught, ${counts.survived} survived, ${counts.broken} not tried`);
if (counts.survived + counts.broken > 0) process.exitCode ??= 1;
