import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SEEDS } from "../support/effort.ts";
import { drawScript } from "./draw/script.ts";
import { play } from "./play.ts";
import { isFault } from "./script.ts";
import { shrink } from "./shrink.ts";
import { loadVersion } from "./versions.ts";

it.for(SEEDS)("seed %i breaks no invariant", { timeout: 60_000 }, async (seed) => {
  const { violations } = await play(drawScript(seed, 30));
  expect(violations).toEqual([]);
});

/** Twin nodes, a lost table, old lists, clocks far off, odd objects, a second cluster: each in one of the two. */
const SPECIAL = [2311, 2700] as const;

it.for(SPECIAL)("seed %i, with what few stacks and few days have, breaks no invariant", { timeout: 60_000 }, async (seed) => {
  const { violations } = await play(drawScript(seed, 20));
  expect(violations).toEqual([]);
});

it("each kind of what few stacks and few days have is in one of those seeds", () => {
  const scripts = SPECIAL.map((seed) => drawScript(seed, 20));
  const kinds = new Set(scripts.flatMap(({ events }) => events.map(({ what }) => what)));
  expect([...kinds]).toEqual(expect.arrayContaining(["twin node", "lose table", "stale lists", "skew", "scale second"]));
  expect(scripts.some(({ events }) => events.some((e) => e.what === "apply" && e.object.metadata.name.startsWith("odd-")))).toBe(true);
});

it("a version of the code beside this one breaks no invariant", { timeout: 60_000 }, async () => {
  const beside = await loadVersion(join(import.meta.dirname, "../.."));
  const { violations, elements } = await play(drawScript(3, 15), { beside });
  expect(violations).toEqual([]);
  expect(elements.get("invocations of the other version")).toBeGreaterThan(50);
});

it("equal scripts have equal results", async () => {
  const script = { ...drawScript(9, 10), interleaved: true };
  const [first, second] = [await play(script), await play(script)];
  expect(second).toEqual(first);
  expect(first.calls.size).toBeGreaterThan(10);
}, 60_000);

it("equal seeds give equal scripts, and other seeds give others", () => {
  expect(drawScript(4, 30)).toEqual(drawScript(4, 30));
  expect(drawScript(5, 30)).not.toEqual({ ...drawScript(4, 30), seed: 5 });
});

it("under AWS's times a script has acts and no faults, and faults when it is faulty", () => {
  const [aws, faulty, fast] = [drawScript(2, 30, "aws"), drawScript(2, 30), drawScript(2, 30, "fast")];
  expect([aws.world, faulty.world, fast.world]).toEqual(["aws", "aws", "fast"]);
  expect(aws.events.filter(isFault)).toEqual([]);
  expect(aws.events).toEqual(faulty.events.filter((event) => !isFault(event)));
  expect(faulty.events).toEqual(fast.events);
  expect(aws.features).toMatchObject({ batches: true, buckets: true });
});

describe("shrink", () => {
  it.for([
    { name: "a failure is cut down to the one event that causes it", items: 100, needed: [37] },
    { name: "a failure is cut down to the two events that cause it together", items: 64, needed: [3, 60] },
    { name: "a failure that needs no event is cut down to none", items: 10, needed: [] },
  ])("$name", async ({ items, needed }) => {
    const all = Array.from({ length: items }, (_, i) => i);
    const left = await shrink(all, async (fewer) => needed.every((n) => fewer.includes(n)), 500);
    expect(left).toEqual(needed);
  });

  it("a failure is kept unchanged when no try is left", async () => {
    expect(await shrink([1, 2, 3], async () => true, 0)).toEqual([1, 2, 3]);
  });
});
