import { expect, it } from "vitest";
import { someAtATime } from "#functions/shared/some-at-a-time.ts";

it("ten pieces of work are done at a time, and all of them in the end", async () => {
  let [running, most] = [0, 0];
  const results = await someAtATime(
    Array.from({ length: 35 }, (_, i) => i),
    async (i) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return i;
    },
  );
  expect(most).toBe(10);
  expect([...results].sort((a, b) => a - b)).toEqual(Array.from({ length: 35 }, (_, i) => i));
});

it("after a failure no other work begins, what has begun ends, and the failure is thrown", async () => {
  const ended: number[] = [];
  const work = async (i: number): Promise<void> => {
    await Promise.resolve();
    if (i === 0) throw new Error("refused");
    await Promise.resolve();
    ended.push(i);
  };
  await expect(
    someAtATime(
      Array.from({ length: 100 }, (_, i) => i),
      work,
    ),
  ).rejects.toThrow("refused");
  expect(ended.length).toBeGreaterThanOrEqual(9);
  expect(ended.length).toBeLessThan(20);
});
