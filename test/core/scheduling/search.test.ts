import { expect, it } from "vitest";
import { better } from "#core/scheduling/search.ts";

const score = (left: number, behind: readonly number[], cost: number) => ({ left, behind, cost });

it.for([
  { name: "the one that leaves fewer pods", best: score(0, [0, 9], 90), other: score(1, [0, 0], 1) },
  {
    name: "of those, the one with fewer pods in lighter pools, whatever it costs",
    best: score(0, [0, 1, 5], 90),
    other: score(0, [0, 2, 0], 1),
  },
  { name: "a heavier rank before a lighter one", best: score(0, [0, 1, 5], 9), other: score(0, [0, 1, 6], 1) },
  { name: "of those, the cheaper one", best: score(0, [0, 1], 1), other: score(0, [0, 1], 2) },
])("of two plans the better is $name, in either order", ({ best, other }) => {
  expect(better(best, other)).toBe(best);
  expect(better(other, best)).toBe(best);
});

it("of two plans that cost the same to the last digits of a float the first is kept", () => {
  const [first, second] = [score(0, [0], 0.3), score(0, [0], 0.1 + 0.2)];
  expect(better(first, second)).toBe(first);
  expect(better(second, first)).toBe(second);
});
