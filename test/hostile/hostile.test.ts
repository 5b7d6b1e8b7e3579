import { expect, it } from "vitest";
import { seeded } from "../../lab/world/random.ts";
import { FULL } from "../support/effort.ts";
import { sourceOf } from "../support/patched-tree.ts";
import { BREAKS } from "./breaks.ts";
import type { Course } from "./course.ts";
import { drawObject } from "./draw/draw.ts";
import { breaches, runSeed, WAIT_TOLERANCE_MS } from "./law.ts";

const SEEDS = FULL ? [2, 3, 12, 13, 14] : [13];

it.for(SEEDS)("ordinary pods get the same beside the objects of seed %i as without them", { timeout: 120_000 }, async (seed) => {
  const run = await runSeed(seed, FULL ? 60 : 30);
  expect(run.objects.length).toBeGreaterThan(20);
  expect(run.breaches).toEqual([]);
});

it("a seed draws the same objects each time", () => {
  const drawn = () => Array.from({ length: 40 }, (_, i) => drawObject(seeded(5).fork(String(i)), i));
  expect(drawn()).toEqual(drawn());
});

const COURSE: Course = { waits: [[40_000, 50_000], [10_000], []], places: ["a", "b", "c"], ended: 1, thrown: [] };

it.for<{ what: string; beside: Partial<Course>; says: string | undefined }>([
  { what: "the same", beside: {}, says: undefined },
  { what: "a little later", beside: { waits: [[40_000, 50_000 + WAIT_TOLERANCE_MS], [10_000], []] }, says: undefined },
  { what: "much later", beside: { waits: [[40_000, 50_001 + WAIT_TOLERANCE_MS], [10_000], []] }, says: "a pod waited" },
  { what: "never", beside: { waits: [[40_000], [10_000], []] }, says: "a pod waited for ever" },
  { what: "other machines", beside: { places: ["a", "x", "c"] }, says: "phase 2 ended with x" },
  { what: "a machine that ends", beside: { ended: 2 }, says: "2 machines ended" },
  { what: "a function that throws", beside: { thrown: ["x"] }, says: "threw: x" },
])("the law sees $what: $says", ({ beside, says }) => {
  const found = breaches(COURSE, { ...COURSE, ...beside });
  expect(found).toEqual(says === undefined ? [] : [expect.stringContaining(says)]);
});

it("each break of the law changes text that stands in its file once", () => {
  for (const { name, edits } of BREAKS) {
    for (const { file, find } of edits) expect({ name, times: sourceOf(file).split(find).length - 1 }).toEqual({ name, times: 1 });
  }
});
