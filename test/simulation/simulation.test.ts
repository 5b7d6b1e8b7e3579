import { describe, expect, it } from "vitest";
import { SEEDS } from "../support/effort.ts";
import { edited, sourceOf } from "../support/patched-tree.ts";
import { drawScript } from "./draw/script.ts";
import { PLANTED_BUGS } from "./planted-bugs/list.ts";
import { play } from "./play.ts";
import { shrink } from "./shrink.ts";

it.for(SEEDS)("seed %i breaks no law", { timeout: 60_000 }, async (seed) => {
  const { violations } = await play(drawScript(seed, 30));
  expect(violations).toEqual([]);
});

it("plays the same script to the same end", async () => {
  const script = { ...drawScript(8, 20), interleaved: true };
  const [first, second] = [await play(script), await play(script)];
  expect(second).toEqual(first);
  expect(first.calls.size).toBeGreaterThan(10);
}, 60_000);

it("draws the same script from the same seed, and others from others", () => {
  expect(drawScript(4, 30)).toEqual(drawScript(4, 30));
  expect(drawScript(5, 30)).not.toEqual({ ...drawScript(4, 30), seed: 5 });
});

describe("a failure is cut down", () => {
  it.for([
    { name: "to the one event that does it", items: 100, needed: [37] },
    { name: "to two that only do it together", items: 64, needed: [3, 60] },
    { name: "to nothing when it needs none", items: 10, needed: [] },
  ])("$name", async ({ items, needed }) => {
    const all = Array.from({ length: items }, (_, i) => i);
    const left = await shrink(all, async (fewer) => needed.every((n) => fewer.includes(n)), 500);
    expect(left).toEqual(needed);
  });

  it("and is kept as it is when no try is left", async () => {
    expect(await shrink([1, 2, 3], async () => true, 0)).toEqual([1, 2, 3]);
  });
});

it.for(PLANTED_BUGS)("can still be planted: $name", ({ edits }) => {
  for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) expect(edited(sourceOf(file), own)).not.toBe(sourceOf(file));
});
