import { expect, it } from "vitest";
import { seeded } from "#lab/world/random.ts";
import { FAST_TIMES, WORLD_TIMES } from "#lab/world/times.ts";

const draws = (draw: () => number): readonly number[] => Array.from({ length: 500 }, draw).sort((a, b) => a - b);

it("under AWS's times machines take 30 to 90 s to end, boots have a long tail, and a few changes are seen late", () => {
  const random = seeded(1);
  const { aws } = WORLD_TIMES;
  const ends = draws(() => aws.endMs(random));
  expect([ends[0], ends.at(-1)]).toEqual([expect.closeTo(30_000, -3), expect.closeTo(90_000, -3)]);
  const boots = draws(() => aws.joinMs(random));
  expect(boots[250]).toBeLessThan(35_000);
  expect(boots[490]).toBeGreaterThan(55_000);
  const unseen = draws(() => aws.unseenMs(random));
  expect(unseen[400]).toBeLessThanOrEqual(1_000);
  expect(unseen.at(-1)).toBeGreaterThan(45_000);
  expect(aws.stopMs(30_000, random)).toBe(30_000);
});

it("fast times show each change at once", () => {
  expect([FAST_TIMES.unseenMs(seeded(1)), FAST_TIMES.endMs(seeded(1))]).toEqual([0, 5_000]);
});
