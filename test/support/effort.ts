/**
 * What `npm test` leaves to `npm run test:full` because it is slow by nature. Each test here runs a small part in
 * `npm test`, so that a broken rule shows before the commit, and all of it in `test:full` and in .ci/run.
 */
export const FULL = process.env["FULL"] === "1";

/**
 * Each story is killed at one remote call in so many; each kill is a run of its own. `npm run sim -- --kills` tries
 * all.
 */
export const KILLS_EVERY = FULL ? 60 : 90;

/** `cli install` is killed at one call in so many, and run again; a run reads the CRDs, which takes a second. */
export const INSTALL_KILLS_EVERY = FULL ? 1 : 9;

/** Seeds of the random simulations; `npm run sim` plays thousands. */
export const SEEDS: readonly number[] = FULL ? [1, 2, 3, 4, 5, 6] : [1, 2, 3];

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
