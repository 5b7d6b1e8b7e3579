import { expect, it } from "vitest";
import { withPauses } from "./draw/pauses.ts";
import { drawScript } from "./draw/script.ts";
import { play } from "./play.ts";

/** Seed and minutes. In the first nothing else goes wrong; in the last another cluster's API server does not answer. */
const RUNS = [
  [2, 30],
  [18, 30],
  [185, 45],
] as const;

it.for(RUNS)("seed %i, in which people pause the cluster, breaks no invariant", { timeout: 60_000 }, async ([seed, minutes]) => {
  const { violations } = await play(withPauses(drawScript(seed, minutes)));
  expect(violations).toEqual([]);
});

it("pauses change nothing else of a script, and are drawn by the seed", () => {
  const script = drawScript(4, 30);
  const paused = withPauses(script);
  expect(paused.events.filter(({ what }) => what !== "pause")).toEqual(script.events);
  expect(paused.events.length).toBeGreaterThan(script.events.length);
  expect(withPauses(script)).toEqual(paused);
});
