import { LAWS } from "./invariants/all.ts";
import { type PlayOptions, play, type RunResult } from "./play.ts";
import { describeEvent, type Script } from "./script.ts";
import { shrink } from "./shrink.ts";
import { START } from "./story.ts";

/** Maximum number of runs for shrinking a failure; a run takes about one second. */
const TRIES = 80;

/** The broken invariant and its time. */
export function headline({ seed }: Script, { violations: [violation] }: RunResult): string {
  if (violation === undefined) return `seed ${seed} breaks nothing`;
  const minutes = ((violation.at - START) / 60_000).toFixed(1);
  return `seed ${seed} breaks "${violation.invariant}" after ${minutes} minutes: ${violation.detail}`;
}

/**
 * The broken invariant, the shortest list of events that still breaks it, and the command that plays the seed again,
 * which ends with `words`.
 */
export async function reproduce(script: Script, outcome: RunResult, options: PlayOptions = {}, words = ""): Promise<string> {
  const [violation] = outcome.violations;
  if (violation === undefined) return "";
  const breaks = async (candidate: Script): Promise<boolean> => {
    const { violations } = await play(candidate, options);
    return violations[0]?.invariant === violation.invariant;
  };
  const until = Math.ceil((violation.at - START) / 1_000);
  const before = script.events.filter(({ at }) => at <= until);
  const events = await shrink(before, (fewer) => breaks({ ...script, events: fewer }), TRIES);
  return [
    headline(script, outcome),
    ...LAWS.flatMap(({ name, law }) => (name === violation.invariant ? [`  the law: ${law}`] : [])),
    `  ${events.length} of its ${script.events.length} events are enough${script.interleaved ? ", calls interleaved" : ""}:`,
    ...events.map((event) => `    ${describeEvent(event)}`),
    `  play it again: node test/simulation/main.ts --seed ${script.seed} --runs 1 --minutes ${script.minutes}${script.pauses ? " --pauses" : ""}${words}`,
  ].join("\n");
}
