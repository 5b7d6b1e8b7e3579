import { expect, it } from "vitest";
import { regionalPrices } from "#infra/data/estimate-prices.ts";

const before = { "m5.large": 0.1, "m5.xlarge": 0.2, "m6i.large": 0.1, "c5.large": 0.1, "r5.large": 0.1 };

it.for([
  {
    name: "the price of a type that costs the same in us-east-1 stays",
    known: { "m5.large": 0.12 },
    after: before,
    want: { "m5.large": 0.12 },
  },
  { name: "a price moves as in us-east-1", known: { "m5.large": 0.12 }, after: { "m5.large": 0.05 }, want: { "m5.large": 0.06 } },
  {
    name: "a new size has the ratio of its family",
    known: { "m5.large": 0.12, "m6i.large": 0.15 },
    after: { ...before, "m5.metal": 1 },
    want: { "m5.large": 0.12, "m5.metal": 1.2, "m6i.large": 0.15 },
  },
  {
    name: "a new family has the median ratio of its category",
    known: { "m5.large": 0.12, "m5.xlarge": 0.24, "m6i.large": 0.15, "c5.large": 0.2 },
    after: { ...before, "m9g.large": 1 },
    want: { "c5.large": 0.2, "m5.large": 0.12, "m5.xlarge": 0.24, "m6i.large": 0.15, "m9g.large": 1.2 },
  },
  {
    name: "a new category costs what it costs in us-east-1",
    known: { "m5.large": 0.12 },
    after: { ...before, "x9.large": 1 },
    want: { "m5.large": 0.12, "x9.large": 1 },
  },
  { name: "a type without a price anywhere has none", known: {}, after: {}, want: {} },
])("$name", ({ known, after, want }) => {
  const types = [...new Set([...Object.keys(known), ...Object.keys(after).filter((name) => !(name in before))]), "z1.nano"];
  expect(regionalPrices(known, { before, after }, types)).toEqual(want);
});
