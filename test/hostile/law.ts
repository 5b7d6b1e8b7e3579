import { RefusedError } from "../../core/ports/errors.ts";
import type { ApiObject } from "../../functions/adapters/manifests/api-object.ts";
import { schemaProblems } from "../../functions/adapters/manifests/crd-schema.ts";
import { createLab } from "../../lab/host.ts";
import { seeded } from "../../lab/world/random.ts";
import { OPTIONS } from "../support/lab-story.ts";
import { type Course, courseOf } from "./course.ts";
import { drawObject } from "./draw/draw.ts";

/**
 * How much later than without hostile objects an ordinary pod may run. Machines of the lab boot in a drawn time, and
 * the draws of one seed differ when other machines boot before: without any hostile object, the first pod of eight
 * seeds waits for 36 to 45 s. The machines are the same for all eight.
 */
export const WAIT_TOLERANCE_MS = 15_000;

/**
 * The objects of a seed that an API server admits by the schemas and rules that the lab knows, and how many it does
 * not.
 */
export function lawfulObjects(
  seed: number,
  count: number,
): { readonly objects: readonly ApiObject[]; readonly refused: readonly string[] } {
  const objects: ApiObject[] = [];
  const refused: string[] = [];
  const random = seeded(seed).fork("hostile");
  const lab = createLab({ ...OPTIONS, seed });
  for (let i = 0; i < count; i++) {
    const object = drawObject(random.fork(String(i)), i);
    const [problem] = schemaProblems(object.kind ?? "", object);
    const why = problem === undefined ? refusal(() => lab.world.apply(object)) : `${problem.path.join(".")} ${problem.message}`;
    if (why === undefined) objects.push(object);
    else refused.push(`${object.kind}: ${why}`);
  }
  lab.close();
  return { objects, refused };
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
export function breaches(alone: Course, beside: Course): readonly string[] {
  const found = [...beside.thrown.map((text) => `threw: ${text}`)];
  alone.places.forEach((want, i) => {
    const got = beside.places[i] ?? "nothing";
    if (got !== want) found.push(`phase ${i + 1} ended with ${got}; without the others with ${want}`);
  });
  alone.waits.forEach((waits, i) => {
    const late = waits.findIndex((wait, j) => (beside.waits[i]?.[j] ?? Number.POSITIVE_INFINITY) > wait + WAIT_TOLERANCE_MS);
    const got = beside.waits[i]?.[late];
    if (late >= 0)
      found.push(
        `phase ${i + 1}: a pod waited ${got === undefined ? "for ever" : `${got / 1_000} s`}; without the others ${(waits[late] ?? 0) / 1_000} s`,
      );
  });
  if (beside.ended > alone.ended) found.push(`${beside.ended} machines ended; without the others ${alone.ended}`);
  return found;
}

/** What a run shows. */
export interface Run {
  readonly seed: number;
  readonly objects: readonly ApiObject[];
  readonly refused: readonly string[];
  readonly breaches: readonly string[];
}

const alone = new Map<number, Promise<Course>>();

/** Plays an hour with the ordinary objects alone, and again beside some or all of the seed's objects. */
export async function runSeed(seed: number, count: number): Promise<Run> {
  const { objects, refused } = lawfulObjects(seed, count);
  return { seed, objects, refused, breaches: await breachesWith(seed, objects) };
}

export async function breachesWith(seed: number, objects: readonly ApiObject[]): Promise<readonly string[]> {
  const known = alone.get(seed) ?? courseOf(seed);
  alone.clear();
  alone.set(seed, known);
  return breaches(await known, await courseOf(seed, objects));
}

/** The fewest of the objects that still break the law: halves, then single objects are left out. */
export async function shrunk(seed: number, objects: readonly ApiObject[]): Promise<readonly ApiObject[]> {
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
