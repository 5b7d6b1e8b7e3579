/**
 * What `npm test` leaves to `npm run test:full` because it is slow by nature; no test leaves anything out that is not
 * listed here. Each test runs a small part in `npm test`, so that a broken rule shows before the commit, and all of it
 * in `test:full` and in .ci/run.
 */
const FULL = process.env["FULL"] === "1";

interface LeftToFull {
  readonly file: string;
  /** Parts of the tests' full names, as the file has them. */
  readonly tests: readonly string[];
  readonly because: string;
}

/** Tests that `npm test` skips. Each of their rules has another test, named here by what remains. */
export const LEFT_TO_FULL: readonly LeftToFull[] = [
  {
    file: "test/lab/kept-plan-stories.test.ts",
    tests: ["however the nodes start (seed 2)", "however the nodes start (seed 3)"],
    because: "seed 1 plays the same story",
  },
  {
    file: "test/lab/disaster-stories.test.ts",
    tests: [12, 33, 38, 65, 80].map((seconds) => `${seconds} s into a scale-down`),
    because: "four other moments of the same scale-down remain",
  },
  {
    file: "test/lab/play.test.ts",
    tests: ["a CronJob that never leaves the cluster quiet"],
    because: "three hours of a CronJob; a CronJob that leaves the cluster quiet remains",
  },
  {
    file: "test/lab/widths.test.ts",
    tests: ["of 100 columns has room"],
    because: "60 columns remain",
  },
  {
    file: "test/lab/price-caps.test.ts",
    tests: ["'of a NodePool'"],
    because: "the rows of a spot NodePool, of the cluster and of the stack remain",
  },
  {
    file: "test/lab/disks.test.ts",
    tests: ["'a larger root volume'", "'another volume beside the root volume'"],
    because: "other volumes remain, each of which changes the disk as well",
  },
  {
    file: "test/simulation/amnesia.test.ts",
    tests: ["'interruption' ends with", "'bulk' ends with", "'sleep' ends with", "seed 2311"],
    because: "four stories and seed 3 remain",
  },
  {
    file: "test/simulation/pauses.test.ts",
    tests: ["seed 18,"],
    because: "seed 2 remains, in which nothing but pauses goes wrong",
  },
  {
    file: "test/bench/lower-bound.test.ts",
    tests: ["of the diverse workload"],
    because: "the same bound is computed for the other workload",
  },
];

const leftOf = (file: string): readonly string[] => LEFT_TO_FULL.flatMap((left) => (file.endsWith(`/${left.file}`) ? left.tests : []));

/** Whether `npm test` skips a test. `file` and `name` (with those of its describes) as Vitest has them. */
export const isLeftToFull = (file: string, name: string): boolean => !FULL && leftOf(file).some((part) => name.includes(part));

/** What is listed of a file, and is part of the name of none of its tests. */
export function unknownOf(file: string, namesOf: () => readonly string[]): readonly string[] {
  const left = leftOf(file);
  if (left.length === 0) return [];
  const names = namesOf();
  return left.filter((part) => !names.some((name) => name.includes(part)));
}

/**
 * Each story is killed at one remote call in so many; each kill is a run of its own. `npm run sim -- --kills` tries
 * all.
 */
export const KILLS_EVERY = FULL ? 60 : 200;

/** The same of the stories of static NodePools. */
export const STATIC_KILLS_EVERY = FULL ? 400 : 1_200;

/** `account-check` is killed at one call in so many, before it and after it; a run is 50 ms. */
export const ACCOUNT_KILLS_EVERY = FULL ? 1 : 4;

/** Of the calls of a course, by name and function, one in so many fails once: each is a play of its own. */
export const FAILURES_EVERY = FULL ? 1 : 2;

/** `cli install` is killed at one call in so many, and run again; a run reads the CRDs, which takes a second. */
export const INSTALL_KILLS_EVERY = FULL ? 1 : 9;

/** Seeds of the random simulations; `npm run sim` plays thousands. */
export const SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 5, 6] : [1, 2];

/** Nodes that the large cluster of a fleet begins with. */
export const FLEET_NODES = FULL ? 20 : 6;

/** Nodes of each of twelve NodePools. Of all nodes ten may end in ten minutes, then twenty. */
export const RATE_NODES = FULL ? 4 : 2;

/** Underutilized clusters of 160 nodes that are consolidated until they rest, a second each. */
export const RESTING_SEEDS: readonly number[] = FULL ? [5, 6, 7] : [5];

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
export const HOSTILE_SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 12, 13] : [2];
export const HOSTILE_OBJECTS = FULL ? 400 : 100;

/** Draws of a law about whole plans, some ten milliseconds each. A part is the first of the same draws. */
export const drawsOf = (all: number): number => (FULL ? all : Math.ceil(all / 4));

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

/** The rows of a page that are played: all of them, or the first of each file. */
export const rowsToPlay = <T extends { readonly file: string }>(rows: readonly T[]): readonly T[] =>
  FULL ? rows : rows.filter(({ file }, index) => file !== rows[index - 1]?.file);
