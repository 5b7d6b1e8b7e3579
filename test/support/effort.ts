/**
 * What `npm test` leaves to `npm run test:full` because it is slow by nature; no test leaves anything out that is not
 * listed here. Each test runs a small part in `npm test`, so that a broken rule shows before the commit, and all of it
 * in `test:full` and in .ci/run.
 */
const FULL = process.env["FULL"] === "1";

/**
 * Each story is killed at one remote call in so many; each kill is a run of its own. `npm run sim -- --kills` tries
 * all.
 */
export const KILLS_EVERY = FULL ? 60 : 90;

/** `cli install` is killed at one call in so many, and run again; a run reads the CRDs, which takes a second. */
export const INSTALL_KILLS_EVERY = FULL ? 1 : 9;

/** Seeds of the random simulations; `npm run sim` plays thousands. */
export const SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 5, 6] : [1, 2, 3];

/** Odd scenarios, manifests and options for each command; `npm run hostile -- --cli` tries thousands. */
export const ODD_INPUTS = FULL ? 600 : 30;

/** Odd audit deliveries, webhook calls, notices and wake-ups; `npm run hostile -- --events` tries thousands. */
export const ODD_EVENTS = FULL ? 2_000 : 100;

/**
 * Seeds of changed records, each a lab of its own. Each of the few broke a rule when it was drawn first: odd
 * replacements of a command, a time that no date can show, a NodeClaim without a manifest, and pods that waited for a
 * NodeClaim that no function took further. `npm run hostile -- --records` plays hundreds.
 */
export const RECORD_SEEDS: readonly number[] = FULL ? Array.from({ length: 60 }, (_, i) => i + 1) : [3, 4, 22, 26, 30, 31];

/** One in so many batches of objects with an odd field is read by the decisions. */
export const BATCH_STEP = FULL ? 1 : 6;

/** Courses beside hostile objects: each is played twice, with the objects and without. `npm run hostile` plays more. */
export const HOSTILE_SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 12, 13] : [2, 13];
export const HOSTILE_OBJECTS = FULL ? 400 : 100;

/** Draws of a law about whole plans, some ten milliseconds each. A part is the first of the same draws. */
export const drawsOf = (all: number): number => (FULL ? all : Math.ceil(all / 3));

/** Terminals on which every command prints: each has a process of its own, which asks for the width once. */
export const WIDTHS: readonly number[] = FULL ? [60, 100] : [60];

/** Cases in which the integer program proves the cheapest plan: it takes a second for each. */
export const optimaToProve = (seeds: readonly number[]): readonly number[] => (FULL ? seeds : seeds.slice(0, 1));

/** How many pods the integer program prices beside our plan: its time grows faster than the number of pods. */
export const PRICED_PODS = FULL ? 200 : 50;

/**
 * The functions that are bundled and started: all of them, or only `lifecycle`, which has the most kinds of
 * dependencies. `npm run build` bundles all of them too.
 */
export const functionsToBundle = (names: readonly string[]): readonly string[] =>
  FULL ? names : names.filter((name) => name === "lifecycle");

/** The kept clusters that are played: all of them, or the first of each kind. A file is named KIND-NUMBERS.json.gz. */
export function clustersToPlay(files: readonly string[]): readonly string[] {
  const kindOf = (file: string): string => file.replace(/[-\d]*\.json\.gz$/, "");
  return FULL ? files : files.filter((file, index) => kindOf(file) !== kindOf(files[index - 1] ?? ""));
}
