import { RefusedError } from "#core/ports/errors.ts";
import { createLab, type Lab } from "#lab/host.ts";
import { hash, seeded } from "#lab/world/random.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { OPTIONS } from "../support/lab-story.ts";
import { type Course, courseOf, PARTS } from "./course.ts";
import { drawObject, type Hostile } from "./draw/draw.ts";
import { place, remove } from "./place.ts";

/**
 * The law: whatever an API server admits may hurt only its owner. An hour of ordinary pods is played alone, and again
 * beside the hostile objects of a seed, which come and go in twelve parts of the hour. Two kinds of seeds take turns.
 *
 * Apart (odd seeds): no hostile pod selects the nodes of ordinary pods. The hostile objects have no lawful part in what
 * ordinary pods get, so each ordinary pod runs as soon as alone, on machines of the same types, and as few of them end.
 *
 * Sharing (even seeds): hostile pods select the nodes of ordinary pods, bind themselves to them, and nodes say that
 * they are an ordinary pod's machine. This takes room, and keeps nodes from consolidation, lawfully: what machines
 * there are, and which of them consolidation removes, is no longer comparable. kube-scheduler binds, so each placement
 * is lawful (the lab's scheduler checks it). What must hold:
 * - at the end of each phase, as many ordinary pods run;
 * - each ordinary pod runs within SHARING_BOUND_MS: at worst, others take the room that it was planned for;
 * - no NodeClaim of the ordinary NodePool ends for another reason than consolidation's, if none does alone: no machine
 *   dies because of what an object says about it; and none ends as empty while an ordinary pod runs on its node;
 * - no pod has NodeClaims planned for it again and again, which costs money for ever.
 *
 * In both, nothing is thrown: what is thrown for one object stops a decision about all.
 */

/**
 * How much later than without hostile objects an ordinary pod may run. Machines of the lab boot in a drawn time, and
 * the draws of one seed differ when other machines boot before: without any hostile object, the first pod of eight
 * seeds waits for 36 to 45 s. The machines are the same for all eight.
 */
export const WAIT_TOLERANCE_MS = 15_000;

/**
 * A machine boots within 60 s. A pod that has lost its room to another waits until the other machines of its plan have
 * started (at most 60 s after the plan) and then for its own.
 */
export const SHARING_BOUND_MS = 3 * 60_000;

/**
 * NodeClaims that may be planned for one pod in the hour: each of its twelve parts brings other objects, and
 * consolidation moves it in between. Those that their NodePool lets expire within a part do not count.
 */
export const MAX_PLANS_PER_POD = 12;

/** Hours of ordinary objects alone: so many worlds are played, and seeds share them. */
const WORLDS = 4;
const worldOf = (seed: number): number => 1 + 2 * (seed % WORLDS);
const isSharing = (seed: number): boolean => seed % 2 === 0;

/**
 * The objects of a seed that an API server admits by the schemas and rules that the lab knows, and how many it does
 * not.
 */
export function lawfulObjects(seed: number, count: number): { readonly objects: readonly Hostile[]; readonly refused: readonly string[] } {
  const objects: Hostile[] = [];
  const refused: string[] = [];
  // Adjacent seeds must not draw alike: forks of two seeds that differ in their last bit are equal.
  const random = seeded(hash(`seed ${seed}`)).fork("hostile");
  const lab = createLab({ ...OPTIONS, seed });
  for (let i = 0; i < count; i++) {
    const drawn = drawObject(random.fork(String(i)), i, { part: Math.floor((i * PARTS) / count), sharing: isSharing(seed) });
    const { kind = "" } = drawn.object;
    const [problem] = schemaProblems(kind, drawn.object);
    const why = problem === undefined ? refusal(() => comeAndGo(lab, drawn)) : `${problem.path.join(".")} ${problem.message}`;
    if (why === undefined) objects.push(drawn);
    else refused.push(`${kind}: ${why}`);
  }
  lab.close();
  return { objects, refused };
}

function comeAndGo(lab: Lab, drawn: Hostile): void {
  place(lab, drawn);
  remove(lab, drawn.object);
}

function refusal(apply: () => unknown): string | undefined {
  try {
    apply();
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

/**
 * Sentences about what ordinary pods did not get, although they get it without the others. Empty when the law holds.
 */
export function breaches(alone: Course, beside: Course, { sharing }: { readonly sharing: boolean }): readonly string[] {
  const thrown = [...new Set(beside.thrown)].map((text) => `threw: ${text}`);
  return [...thrown, ...(sharing ? sharedBreaches(alone, beside) : apartBreaches(alone, beside))];
}

function apartBreaches(alone: Course, beside: Course): readonly string[] {
  const found: string[] = [];
  alone.places.forEach((want, i) => {
    const got = beside.places[i] ?? "nothing";
    if (got !== want) found.push(`phase ${i + 1} ended with ${got}; without the others with ${want}`);
  });
  alone.waits.forEach((waits, i) => {
    const late = waits.findIndex((wait, j) => (beside.waits[i]?.[j] ?? Number.POSITIVE_INFINITY) > wait + WAIT_TOLERANCE_MS);
    const got = beside.waits[i]?.[late];
    if (late >= 0) found.push(`phase ${i + 1}: a pod waited ${spoken(got)}; without the others ${(waits[late] ?? 0) / 1_000} s`);
  });
  if (beside.ended > alone.ended) found.push(`${beside.ended} machines ended; without the others ${alone.ended}`);
  return found;
}

function sharedBreaches(alone: Course, beside: Course): readonly string[] {
  const found: string[] = [];
  const running = (place: string | undefined): number => Number.parseInt(place ?? "0", 10);
  alone.places.forEach((want, i) => {
    const got = running(beside.places[i]);
    if (got < running(want)) found.push(`phase ${i + 1} ended with ${got} pods; without the others with ${running(want)}`);
  });
  beside.waits.forEach((waits, i) => {
    const late = waits.find((wait) => wait > SHARING_BOUND_MS);
    if (late !== undefined) found.push(`phase ${i + 1}: a pod waited ${spoken(late)}; at most ${SHARING_BOUND_MS / 1_000} s are needed`);
  });
  if (beside.lost.length > alone.lost.length) found.push(`NodeClaims ended: ${beside.lost.join(", ")}`);
  if (beside.emptied.length > 0) found.push(`NodeClaims ended as empty while pods ran there: ${beside.emptied.join(", ")}`);
  if (beside.plansPerPod > MAX_PLANS_PER_POD) found.push(`${beside.plansPerPod} NodeClaims were planned for one pod`);
  return found;
}

const spoken = (wait: number | undefined): string =>
  wait === undefined || wait === Number.POSITIVE_INFINITY ? "for ever" : `${wait / 1_000} s`;

/** What a run shows. */
export interface Run {
  readonly seed: number;
  readonly objects: readonly Hostile[];
  readonly refused: readonly string[];
  readonly breaches: readonly string[];
}

const alone = new Map<number, Promise<Course>>();

/** Plays an hour beside the seed's objects; the hour of the ordinary objects alone is played once for each world. */
export async function runSeed(seed: number, count: number): Promise<Run> {
  const { objects, refused } = lawfulObjects(seed, count);
  return { seed, objects, refused, breaches: await breachesWith(seed, objects) };
}

export async function breachesWith(seed: number, objects: readonly Hostile[]): Promise<readonly string[]> {
  const world = worldOf(seed);
  const known = alone.get(world) ?? courseOf(world);
  alone.set(world, known);
  return breaches(await known, await courseOf(world, objects), { sharing: isSharing(seed) });
}

/** The fewest of the objects that still break the law: halves, then single objects are left out. */
export async function shrunk(seed: number, objects: readonly Hostile[]): Promise<readonly Hostile[]> {
  let kept = objects;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length; ) {
      const fewer = kept.filter((_, i) => i < start || i >= start + size);
      if (fewer.length < kept.length && (await breachesWith(seed, fewer)).length > 0) kept = fewer;
      else start += size;
    }
  }
  return kept;
}
