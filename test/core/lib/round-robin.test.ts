import { expect, it } from "vitest";
import { roundRobin } from "#core/lib/round-robin.ts";

const groupOf = (item: string): string => item.slice(0, 1);

it.for([
  { turn: 0, want: ["a1", "b1", "a2", "a3"] },
  { turn: 1, want: ["b1", "a2", "a3", "a1"] },
  { turn: 2, want: ["a3", "b1", "a1", "a2"] },
])("in turn $turn each group has an item before another has its second: $want", ({ turn, want }) => {
  expect(roundRobin(["a1", "a2", "a3", "b1"], groupOf, turn)).toEqual(want);
});

it("the first items of some turns are all items, however many one group has", () => {
  const items = [...Array.from({ length: 30 }, (_, i) => `a${i}`), "b", "c"];
  const reached = Array.from({ length: 30 }, (_, turn) => roundRobin(items, groupOf, turn).slice(0, 3)).flat();
  expect(new Set(reached)).toEqual(new Set(items));
  expect(roundRobin(items, groupOf, 7).slice(0, 3).map(groupOf).sort()).toEqual(["a", "b", "c"]);
});

it("no items have no turns", () => {
  expect(roundRobin([], groupOf, 3)).toEqual([]);
});
