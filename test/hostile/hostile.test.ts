import { expect, it } from "vitest";
import { seeded } from "#lab/world/random.ts";
import { HOSTILE_OBJECTS, HOSTILE_SEEDS } from "../support/effort.ts";
import { sourceOf } from "../support/patched-tree.ts";
import { BREAKS } from "./breaks.ts";
import type { Course } from "./course.ts";
import { drawObject } from "./draw/draw.ts";
import { breaches, lawfulObjects, MAX_PLANS_PER_POD, runSeed, SHARING_BOUND_MS, WAIT_TOLERANCE_MS } from "./law.ts";

it.for(HOSTILE_SEEDS)("ordinary pods get the same beside the objects of seed %i as without them", { timeout: 120_000 }, async (seed) => {
  const run = await runSeed(seed, HOSTILE_OBJECTS);
  expect(run.objects.length).toBeGreaterThan(80);
  expect(run.breaches).toEqual([]);
});

it("a seed draws the same objects each time", () => {
  const drawn = () => Array.from({ length: 40 }, (_, i) => drawObject(seeded(5).fork(String(i)), i, { part: 0, sharing: true }));
  expect(drawn()).toEqual(drawn());
});

it("adjacent seeds draw other objects", () => {
  const drawn = (seed: number) => JSON.stringify(lawfulObjects(seed, 20).objects.map(({ object }) => object.spec));
  expect(new Set([4, 5, 6, 7].map(drawn)).size).toBe(4);
});

const COURSE: Course = {
  waits: [[40_000, 50_000], [10_000], []],
  places: ["5 a", "9 b", "2 c"],
  ended: 1,
  lost: [],
  emptied: [],
  plansPerPod: 1,
  thrown: [],
};

it.for<{ what: string; beside: Partial<Course>; sharing: boolean; says: string | undefined }>([
  { what: "the same", beside: {}, sharing: false, says: undefined },
  { what: "a little later", beside: { waits: [[40_000, 50_000 + WAIT_TOLERANCE_MS], [10_000], []] }, sharing: false, says: undefined },
  { what: "much later", beside: { waits: [[40_000, 50_001 + WAIT_TOLERANCE_MS], [10_000], []] }, sharing: false, says: "a pod waited" },
  { what: "never", beside: { waits: [[40_000], [10_000], []] }, sharing: false, says: "a pod waited for ever" },
  { what: "other machines", beside: { places: ["5 a", "9 x", "2 c"] }, sharing: false, says: "phase 2 ended with 9 x" },
  { what: "a machine that ends", beside: { ended: 2 }, sharing: false, says: "2 machines ended" },
  { what: "a function that throws", beside: { thrown: ["x"] }, sharing: false, says: "threw: x" },
  { what: "other machines, where they are shared", beside: { places: ["5 a", "9 x", "2 c"], ended: 2 }, sharing: true, says: undefined },
  { what: "fewer pods", beside: { places: ["5 a", "8 b", "2 c"] }, sharing: true, says: "phase 2 ended with 8 pods" },
  { what: "later in shared room", beside: { waits: [[SHARING_BOUND_MS], [], []] }, sharing: true, says: undefined },
  { what: "too late in shared room", beside: { waits: [[SHARING_BOUND_MS + 1], [], []] }, sharing: true, says: "a pod waited" },
  { what: "a lost machine", beside: { lost: ["default-x: expired"] }, sharing: true, says: "default-x: expired" },
  { what: "a machine that ends with its pods", beside: { emptied: ["default-x"] }, sharing: true, says: "ended as empty while pods ran" },
  { what: "a machine a minute", beside: { plansPerPod: MAX_PLANS_PER_POD + 1 }, sharing: true, says: "planned for one pod" },
  { what: "a function that throws in shared room", beside: { thrown: ["x"] }, sharing: true, says: "threw: x" },
])("the law sees $what: $says", ({ beside, sharing, says }) => {
  const found = breaches(COURSE, { ...COURSE, ...beside }, { sharing });
  expect(found).toEqual(says === undefined ? [] : [expect.stringContaining(says)]);
});

it("each break of the law changes text that stands in its file once", () => {
  for (const { name, edits } of BREAKS) {
    for (const { file, find } of edits) expect({ name, times: sourceOf(file).split(find).length - 1 }).toEqual({ name, times: 1 });
  }
});
