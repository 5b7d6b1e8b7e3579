import { expect, it } from "vitest";
import { NOTICES_PER_SECOND, STORMED, type Stormed, stormOf } from "./storm-scene.ts";

async function recordsRead(fn: Stormed, claims: number, notices: number): Promise<number> {
  const storm = await stormOf(claims, notices);
  await storm.play(fn);
  expect(storm.errors).toEqual([]);
  return storm.recordsRead();
}

it.for(STORMED)("%s reads no more than twice the records of the table for twice the notices", async (fn) => {
  const [once, twice] = [await recordsRead(fn, 120, 30), await recordsRead(fn, 120, 60)];
  expect(twice).toBeLessThanOrEqual(2 * once);
  expect(once).toBeGreaterThan(0);
});

it("the lifecycle function reads the table once in two seconds of a storm, however many messages one invocation gets", async () => {
  const [without, withNotices] = [await recordsRead("lifecycle", 120, 30), await recordsRead("lifecycle", 240, 30)];
  expect(withNotices - without).toBeLessThanOrEqual(120 * Math.ceil(30 / NOTICES_PER_SECOND / 2));
});

it.for(["interruption", "notify", "audit"] as const)("%s reads as many records for a notice in a larger cluster", async (fn) => {
  expect(await recordsRead(fn, 120, 30)).toBe(await recordsRead(fn, 60, 30));
});
