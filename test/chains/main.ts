import { parseArgs } from "node:util";
import { wholeOption } from "../support/number-option.ts";
import { type Case, casesOf, type Outcome, playCase } from "./cases.ts";

// `node test/chains/main.ts [--nodes N]` prints for each ordinary end of nodes how long the longest chain of wake-ups
// was, how long the nodes took, and what Lambda's guard against recursive loops stopped: with the guard off, as the
// template has it, and on, as an account has it by default. Ends with 1 when the chain of a case whose end is known is
// longer than the guard allows, or when a node does not end.

const MAX_RUNS = 16;
const SOURCES = [["notify"], []] as const;
const SOME_NODES = "20";

const { values } = parseArgs({ options: { nodes: { type: "string", default: SOME_NODES } } });
const cases: readonly Case[] = casesOf(wholeOption("nodes", values.nodes, 1));
console.log("| case | source | guard | longest chain | seconds | stopped | dead letters | lifecycle runs |");
console.log("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
let longest = 0;
for (const one of cases) {
  for (const sources of SOURCES) {
    for (const isGuarded of [false, true]) {
      const outcome: Outcome = await playCase(one, { sources, isGuarded });
      if (!one.isOpenEnded) longest = Math.max(longest, outcome.longest);
      const { seconds, stopped, deadLetters, lifecycles } = outcome;
      const cells = [one.name, sources[0] ?? "sweep", isGuarded ? "on" : "off"];
      console.log(`| ${[...cells, outcome.longest, seconds, stopped, deadLetters, lifecycles].join(" | ")} |`);
    }
  }
}
if (longest > MAX_RUNS) {
  console.log(`A chain ran a function ${longest} times, which Lambda's guard would stop after ${MAX_RUNS}.`);
  process.exitCode = 1;
}
