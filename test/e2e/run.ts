import { join } from "node:path";
import { parseArgs } from "node:util";
import { permissionReport, printPermissions } from "./iam/report.ts";
import { CheckFailed, check, expect, failing, report, startReport } from "./report.ts";
import { awsStory } from "./stories/aws.ts";
import { replaceStory, spotToSpotStory } from "./stories/consolidation.ts";
import { blockedDrainStory, deadlineStory } from "./stories/drain.ts";
import { floodStory } from "./stories/flood.ts";
import { interruptionStory } from "./stories/interruption.ts";
import { killStory } from "./stories/kills.ts";
import { pauseStory } from "./stories/pause.ts";
import { auditStory, notifyStory, sweepStory } from "./stories/sources.ts";
import { OTHER_CLUSTERS, THREE_CLUSTERS, threeClustersStory } from "./stories/three-clusters.ts";
import { troubleStory } from "./stories/trouble.ts";
import { upgradeStory } from "./stories/upgrade.ts";
import { wholeLines } from "./support/growing-log.ts";
import { type E2eWorld, startWorld } from "./world.ts";

/*
 * `npm run e2e [-- STORY…] [--part K/N]` plays stories on the deployed stack: real functions, queues, table and
 * control plane on this machine; only EC2 and the kubelets are stand-ins. In: names of stories; `--part 1/2` plays
 * every second one, for a run beside another. Out: one line a check, the figures, and `N passed, N failed` last. A
 * story (stories/) calls kubectl and AWS and observes; it imports no code of functions/.
 */

const STORIES = {
  ...{ audit: auditStory, notify: notifyStory, sweep: sweepStory, interruption: interruptionStory },
  ...{ replace: replaceStory, "spot-to-spot": spotToSpotStory },
  aws: awsStory,
  ...{ drain: blockedDrainStory, deadline: deadlineStory, flood: floodStory, kills: killStory, pause: pauseStory, upgrade: upgradeStory },
};

/** Played only when they are named: one lasts as long as one wants, the other one needs three control planes. */
const LONG_STORIES = { trouble: troubleStory, [THREE_CLUSTERS]: threeClustersStory };

const { positionals, values } = parseArgs({ allowPositionals: true, options: { part: { type: "string", default: "1/1" } } });
const [part = 0, parts = 0] = values.part.split("/").map(Number);
const ofPart = Object.keys(STORIES).filter((_, i) => i % parts === part - 1);
if (ofPart.length === 0) {
  console.error(`--part is K/N with K from 1 to N, as in --part 1/2; not ${values.part}.`);
  process.exit(2);
}
const wanted = positionals.length === 0 ? ofPart : positionals;
const unknown = wanted.find((name) => !(name in STORIES || name in LONG_STORIES));
if (unknown !== undefined) {
  console.error(
    `There is no story "${unknown}"; give any of ${Object.keys({ ...STORIES, ...LONG_STORIES }).join(", ")}, or none for all but ${Object.keys(LONG_STORIES).join(" and ")}.`,
  );
  process.exit(2);
}

const began = performance.now();
const world = await startWorld(wanted.includes(THREE_CLUSTERS) ? OTHER_CLUSTERS : []);
startReport(world);
let complete = wanted.length === Object.keys(STORIES).length;
try {
  for (const [name, story] of Object.entries({ ...STORIES, ...LONG_STORIES })) if (wanted.includes(name)) await story(world);
} catch (error) {
  if (!(error instanceof CheckFailed)) failing("what a story does between its checks", error);
  complete = false;
  console.log("The stories after this one are not played: they would find what it has left.");
} finally {
  await checkPermissions(world, complete);
  const { failed } = report(performance.now() - began);
  if (failed > 0) {
    const log = wholeLines(join(world.dataDir, "ministack.log"));
    console.log(
      `machines that did not boot: ${[...world.bootFailures].map(([id, why]) => `${id}: ${why}`).join("; ") || "none"}\nlast lines of the functions:\n${log.slice(-40).join("\n")}`,
    );
  }
  await world.stop().catch((error: unknown) => failing("everything stops", error));
  const { passed, failed: failures } = report();
  console.log(`${passed} passed, ${failures} failed`);
  process.exitCode = failures > 0 ? 1 : 0;
}

/**
 * Compares the functions' AWS calls with their roles, even after a failed story, because a refusal may be the cause.
 */
async function checkPermissions({ permissions, ministack }: E2eWorld, allPlayed: boolean): Promise<void> {
  const found = permissionReport(permissions, ministack.authorizations());
  printPermissions(permissions, found, allPlayed);
  await check("each role allows all that its function asked of AWS", async () => {
    expect(found.refusals.length === 0 && found.used > 0, () => found.refusals.join("\n     "));
  }).catch(() => {});
}
