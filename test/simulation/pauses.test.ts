import { expect, it } from "vitest";
import { withPauses } from "./draw/pauses.ts";
import { drawScript } from "./draw/script.ts";
import { play } from "./play.ts";

/** In the first nothing else goes wrong. */
const SEEDS = [2, 18] as const;

it.for(SEEDS)("seed %i, in which people pause the cluster, breaks no invariant", { timeout: 60_000 }, async (seed) => {
  const { violations } = await play(withPauses(drawScript(seed, 30)));
  expect(violations).toEqual([]);
});

it("pauses change nothing else of a script, and are drawn by the seed", () => {
  const script = drawScript(4, 30);
  const paused = withPauses(script);
  expect(paused.events.filter(({ what }) => what !== "pause")).toEqual(script.events);
  expect(paused.events.length).toBeGreaterThan(script.events.length);
  expect(withPauses(script)).toEqual(paused);
});
