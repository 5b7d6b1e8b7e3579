import { expect, it } from "vitest";
import { changedPrice } from "#core/node-overlay/price.ts";

it.for([
  { name: "no change", change: {}, want: 2 },
  { name: "a price of its own", change: { price: "0.5" }, want: 0.5 },
  { name: "free", change: { price: "0" }, want: 0 },
  { name: "more expensive by an amount", change: { priceAdjustment: "+1.2" }, want: 3.2 },
  { name: "cheaper by an amount", change: { priceAdjustment: "-.5" }, want: 1.5 },
  { name: "more expensive by a share", change: { priceAdjustment: "+10%" }, want: 2.2 },
  { name: "cheaper by a share", change: { priceAdjustment: "-15%" }, want: 1.7 },
  { name: "more than doubled", change: { priceAdjustment: "+250%" }, want: 7 },
  { name: "reduced to zero", change: { priceAdjustment: "-100%" }, want: 0 },
  { name: "reduced by more than the price", change: { priceAdjustment: "-3" }, want: 0 },
])("an overlaid price: $name", ({ change, want }) => {
  expect(changedPrice(2, change)).toBeCloseTo(want);
});
