// Lets the virtual time of a play pass: for so long, until something holds, or until nothing changes.

import type { Pod } from "#core/model/pod.ts";
import type { Lab } from "./host.ts";
import type { Narrator } from "./narrator.ts";
import type { TimelineEntry } from "./render.ts";
import { firstOrSecondRun } from "./world/actors/cron-jobs.ts";
import type { CronJob } from "./world/actors/owned-pods.ts";

const MINUTE_MS = 60_000;

/** How long an act may take until its condition holds. The story continues then, and reports it. */
const MAX_ACT_MS = 30 * MINUTE_MS;

/** How far virtual time goes before a recorder looks. */
const LOOK_EVERY_MS = 1_000;

/** Takes a run as it happens. */
export interface Recorder {
  /** The lab is made; nothing has happened. */
  begin(lab: Lab, start: number): void;
  /** A line of the story. */
  tell(entry: TimelineEntry): void;
  /** So many seconds of virtual time have passed at most; the lab stands still meanwhile. */
  look(): Promise<void>;
}

/** A lab that is played, with the narrator of its log. */
interface Played {
  readonly lab: Lab;
  readonly narrator: Narrator;
  readonly options: { readonly json: boolean; readonly print: (line: string) => void; readonly recorder?: Recorder };
}

/** Lets virtual time pass, in steps where a recorder looks. */
export async function runUntil(until: number, { lab, narrator: story, options: { recorder } }: Played): Promise<void> {
  const { clock } = lab.world;
  if (recorder === undefined) return void (await clock.run({ until }));
  while (clock.now() < until) {
    await clock.run({ until: Math.min(until, clock.now() + LOOK_EVERY_MS) });
    story.flush();
    await recorder.look();
  }
}

export async function waitFor(until: (lab: Lab) => boolean, what: string, stage: Played): Promise<void> {
  const { lab, narrator: story, options } = stage;
  const { clock } = lab.world;
  const limit = clock.now() + MAX_ACT_MS;
  while (!until(lab) && clock.now() < limit) await runUntil(clock.now() + 1_000, stage);
  story.flush();
  if (!until(lab))
    options.print(
      `After ${MAX_ACT_MS / MINUTE_MS} minutes the cluster is not as expected after "${what}": this is a fault of the lab or the product.`,
    );
}

/** How long one step of manifests may be played. No benchmark has tuned it. */
const MAX_STEP_MINUTES = 24 * 60;
/** The same when a CronJob may run: its Jobs follow each other without end. */
const MAX_CRON_STEP_MINUTES = 3 * 60;

/**
 * Runs until pods, nodes and claims have stayed the same for so many minutes and no Job is at work, or up to the bound,
 * which is printed then.
 */
export async function quiet(minutes: number, stage: Played): Promise<void> {
  const { lab, narrator: story, options } = stage;
  const { clock, store } = lab.world;
  const repeats = (store.list("CronJob") as unknown as readonly CronJob[]).some(({ spec }) => spec.suspend !== true);
  const bound = Math.max(minutes, repeats ? MAX_CRON_STEP_MINUTES : MAX_STEP_MINUTES);
  let before = "";
  for (let waited = 0; waited < bound; waited += minutes) {
    await runUntil(clock.now() + Math.min(minutes, bound - waited) * MINUTE_MS, stage);
    const now = fingerprint(lab);
    if (now === before && !expectsChange(lab, (bound - waited) * MINUTE_MS)) return;
    before = now;
  }
  story.flush();
  const why = repeats ? "CronJobs run again and again" : "pods or nodes still change, which should end sooner";
  if (!options.json) options.print(`\nThe lab stops here, after ${bound / 60} hours of virtual time: ${why}.`);
}

/** Whether the pod of a Job runs, which will end, or a CronJob runs for the first or second time within so many ms. */
function expectsChange({ world: { store, clock } }: Lab, withinMs: number): boolean {
  const working = (store.list("Pod") as readonly Pod[]).some(
    ({ metadata, status }) => status?.phase === "Running" && metadata.ownerReferences?.some(({ kind }) => kind === "Job"),
  );
  const cronJobs = store.list("CronJob") as unknown as readonly CronJob[];
  const comes = (cronJob: CronJob): boolean =>
    (firstOrSecondRun(cronJob, clock.now()) ?? Number.POSITIVE_INFINITY) <= clock.now() + withinMs;
  return working || cronJobs.some(comes);
}

function fingerprint({ world }: Lab): string {
  const pods = (world.store.list("Pod") as readonly Pod[]).map(
    ({ metadata, spec, status }) => `${metadata.uid} ${spec.nodeName} ${status?.phase}`,
  );
  const nodes = world.store.list("Node").map(({ metadata }) => `${metadata.uid} ${metadata.deletionTimestamp}`);
  const claims = world.store.list("NodeClaim").map(({ metadata }) => `${metadata.uid} ${metadata.deletionTimestamp}`);
  return [...pods, ...nodes, ...claims].sort().join("\n");
}
