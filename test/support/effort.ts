/**
 * What is slow by nature, and what `npm test` leaves to `npm run test:full` of it: each test that asks keeps a small part that stands for the whole,
 * so that a rule that breaks is seen before a commit, and all of it in each full run (.ci/run).
 */
export const FULL = process.env["FULL"] === "1";

/** Of every story, one place to be killed at in so many; each is a simulation of its own. `npm run sim -- --kills` tries them all. */
export const KILLS_EVERY = FULL ? 60 : 90;

/** Seeds of random simulations; `npm run sim` plays thousands. */
export const SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 5, 6] : [1, 2, 3];

/** Pods of a workload that an integer program prices beside the plan: its time grows faster than they do. */
export const PRICED_PODS = FULL ? 200 : 50;

/** Of functions, those that are bundled and started: all, or one that has most kinds of dependencies. `npm run build` bundles all too. */
export const bundled = (names: readonly string[]): readonly string[] => (FULL ? names : names.filter((name) => name === "lifecycle"));

/** Of kept clusters, those that are played: all, or the first of each kind, which its file's name says before the numbers. */
export function played(files: readonly string[]): readonly string[] {
  const kindOf = (file: string): string => file.replace(/[-\d]*\.json\.gz$/, "");
  return FULL ? files : files.filter((file, index) => kindOf(file) !== kindOf(files[index - 1] ?? ""));
}
