/*
 * The simulation: the product's handlers on the lab's virtual world, under acts and faults drawn from a seed.
 * In: seeds and limits (USAGE). Out: each broken invariant with the command that plays it again, and totals. draw/
 * makes scripts, faults/ injects failures, invariants/ judges. An invariant takes its excuses from what EC2 and the API
 * server saw (invariants/history.ts), never from the product's records, and must not use the product's own predicates,
 * because a shared mistake would stay hidden.
 */

import { parseArgs } from "node:util";
import { wholeOption } from "../support/number-option.ts";
import { withPauses } from "./draw/pauses.ts";
import { DEFAULT_WORLD, drawScript, WORLDS } from "./draw/script.ts";
import { LAWS } from "./invariants/all.ts";
import { killEverywhere } from "./kill-everywhere.ts";
import { play } from "./play.ts";
import { headline, reproduce } from "./reproduction.ts";
import { addUp, report, total } from "./totals.ts";
import { loadVersion, type OtherVersion } from "./versions.ts";

const USAGE = `node test/simulation/main.ts [options]
  --seed S      first seed (1)
  --runs N      play N seeds (100)
  --hours H     play seeds until H virtual cluster-hours are over, whatever --runs says
  --minutes M   virtual minutes of trouble in each run (45)
  --pauses      people pause the cluster meanwhile, as drawn from the seed beside all else
  --world W     aws: AWS's times, and no faults; faulty: the same with faults; fast: short times, with faults
                (${DEFAULT_WORLD})
  --guard       Lambda ends chains of more than 16 invocations, as for functions that do not allow loops
  --kills       the short stories instead, killed at every remote call
  --every K     with --kills: every K-th place only (1)
  --beside C    run the code of commit C beside this one's, an invocation each as drawn
  --laws        say what laws a run is held to, and play nothing
  --brief       stop at the first seed that breaks a law without cutting it down
  --keep-going  name all seeds that break a law, instead of stopping at the first and cutting it down`;

function options() {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "100" },
      hours: { type: "string" },
      minutes: { type: "string", default: "45" },
      pauses: { type: "boolean", default: false },
      world: { type: "string", default: DEFAULT_WORLD },
      guard: { type: "boolean", default: false },
      kills: { type: "boolean", default: false },
      every: { type: "string", default: "1" },
      beside: { type: "string" },
      laws: { type: "boolean", default: false },
      brief: { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const world = WORLDS.find((name) => name === values.world);
  if (world === undefined) throw new Error(`--world: there is no "${values.world}"; give ${WORLDS.join(", ")}`);
  return {
    world,
    guard: values.guard,
    seed: wholeOption("seed", values.seed, 0),
    runs: values.hours === undefined ? wholeOption("runs", values.runs, 1) : Number.POSITIVE_INFINITY,
    hours: values.hours === undefined ? Number.POSITIVE_INFINITY : wholeOption("hours", values.hours, 1),
    minutes: wholeOption("minutes", values.minutes, 5),
    pauses: values.pauses,
    kills: values.kills,
    every: wholeOption("every", values.every, 1),
    beside: values.beside,
    laws: values.laws,
    brief: values.brief,
    keepGoing: values["keep-going"],
    help: values.help,
  };
}

/** With --keep-going the sums are told after so many seeds: a long run that is ended has said what it reached. */
const SEEDS_PER_REPORT = 100;

/** The functions of a commit. */
async function versionOf(commit: string): Promise<OtherVersion> {
  // Only here, so that a tree that holds no more than the simulation plays, too.
  const { checkOut } = await import("../e2e/support/previous.ts");
  return loadVersion(checkOut(commit));
}

/** Plays the seeds in turn. Prints each broken invariant with the command that plays it again, and the totals last. */
async function main(): Promise<void> {
  const { seed, runs, hours, minutes, world, guard, pauses, kills, every, beside, laws, brief, keepGoing, help } = options();
  if (help) return console.log(USAGE);
  if (laws) return console.log(LAWS.map(({ name, law }) => `${name}: ${law}`).join("\n"));
  if (kills) {
    process.exitCode = (await killEverywhere("all", every)) > 0 ? 1 : 0;
    return;
  }
  const other = beside === undefined ? undefined : await versionOf(beside);
  const played = { ...(other && { beside: other }), ...(guard && { recursiveLoop: {} }) };
  const words = `${world === DEFAULT_WORLD ? "" : ` --world ${world}`}${guard ? " --guard" : ""}`;
  const sum = total();
  for (let next = seed; next - seed < runs && sum.hours < hours; next++) {
    const drawn = drawScript(next, minutes, world);
    const script = pauses ? withPauses(drawn) : drawn;
    const outcome = await play(script, played);
    addUp(sum, outcome);
    if (keepGoing && sum.runs % SEEDS_PER_REPORT === 0) console.log(report(sum).at(-1));
    if (outcome.violations.length === 0) continue;
    console.log(brief || keepGoing ? headline(script, outcome) : await reproduce(script, outcome, played, words));
    if (!keepGoing) break;
  }
  console.log(report(sum).join("\n"));
  process.exitCode = sum.violations > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
