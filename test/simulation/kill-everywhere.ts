import type { PortCall } from "#lab/world/intercept.ts";
import { type Ending, play, STORIES, type Story } from "./story.ts";

/** A kill point: before or after the n-th remote call of all handlers of a story. */
export interface KillPoint {
  readonly call: number;
  readonly when: "before" | "after";
}

export interface Killed extends KillPoint {
  /** "store.update in lifecycle-12". */
  readonly at: string;
  readonly ending: Ending;
  readonly same: boolean;
}

/** Calls without an effect: a kill there leaves the same state as a kill after the call before. */
const READS =
  /^(get|list|describe|launchGroup$|commands|unavailable|byInstance|documentVersion|getDocument|version|subnets|securityGroups|images|parameter)/;

/** Plays a story without a kill; returns its end, the number of remote calls, and which of them have an effect. */
export async function unharmed(
  story: Story,
  seed: number,
): Promise<{ readonly ending: Ending; readonly calls: number; readonly effects: readonly number[] }> {
  let calls = 0;
  const effects: number[] = [];
  const { lab, ending } = await play(story, seed, {
    before: ({ method }) => {
      calls++;
      if (!READS.test(method)) effects.push(calls);
      return undefined;
    },
  });
  lab.close();
  return { ending, calls, effects };
}

/** Plays a story and kills the invocation that makes the given call, once. */
export async function killedAt(story: Story, seed: number, point: KillPoint, wanted: Ending): Promise<Killed> {
  let seen = 0;
  let at = "never reached";
  const strike = (call: PortCall): "kill" => {
    at = `${call.port}.${call.method} in ${call.invocation?.id}`;
    return "kill";
  };
  const { lab, ending } = await play(story, seed, {
    before: (call) => (++seen === point.call && point.when === "before" ? strike(call) : undefined),
    after: (call) => (seen === point.call && point.when === "after" && at === "never reached" ? strike(call) : undefined),
  });
  lab.close();
  return { ...point, at, ending, same: JSON.stringify(ending) === JSON.stringify(wanted) };
}

/** The kill points of a story where a kill may make a difference, and a few where it must not. */
export function killPoints(
  { calls, effects }: { readonly calls: number; readonly effects: readonly number[] },
  every: number,
): readonly KillPoint[] {
  const atEffects = effects
    .filter((_, index) => index % every === 0)
    .flatMap((call): KillPoint[] => [
      { call, when: "before" },
      { call, when: "after" },
    ]);
  const atReads: KillPoint[] = [];
  for (let call = 1; call <= calls; call += 50 * every) atReads.push({ call, when: "after" });
  return [...atEffects, ...atReads];
}

/**
 * Kills the stories ("all" or one name) at every `every`-th kill point and prints each end; returns how many ended
 * differently.
 */
export async function killEverywhere(only: string, every: number): Promise<number> {
  let failures = 0;
  for (const story of STORIES.filter(({ name }) => only === "all" || name === only)) {
    const began = Date.now();
    const plain = await unharmed(story, 1);
    const points = killPoints(plain, every);
    for (const point of points) {
      const killed = await killedAt(story, 1, point, plain.ending);
      if (killed.same) continue;
      failures++;
      console.log(`${story.name}: killed ${point.when} call ${point.call} (${killed.at}) it ends in ${JSON.stringify(killed.ending)}`);
    }
    const seconds = ((Date.now() - began) / 1_000).toFixed(1);
    console.log(
      `${story.name}: ${plain.calls} remote calls, ${points.length} kill points, ends in ${JSON.stringify(plain.ending)}, ${seconds} s`,
    );
  }
  console.log(`${failures} of them ended otherwise`);
  return failures;
}

// `node test/simulation/kill-everywhere.ts [STORY|all] [EVERY]` exits 1 when a story ends differently.
if (process.argv[1] === import.meta.filename) {
  const [only = "all", every = "1"] = process.argv.slice(2);
  process.exitCode = (await killEverywhere(only, Number(every))) > 0 ? 1 : 0;
}
