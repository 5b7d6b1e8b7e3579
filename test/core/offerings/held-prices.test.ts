import { expect, it } from "vitest";
import { withoutFallen, withoutFallenSpot } from "#core/offerings/held-prices.ts";

const OLD = { "m5.large": 0.1, "c5.large": 0.08 };

it("a price that falls below a fifth is held, and used when it is read again", () => {
  const fresh = { "m5.large": 0.0001, "c5.large": 0.07, "new.large": 0.0001 };
  const first = withoutFallen(OLD, fresh);
  expect(first).toEqual({ prices: { "c5.large": 0.07, "new.large": 0.0001 }, held: { "m5.large": 0.0001 } });
  expect(withoutFallen(OLD, fresh, first.held)).toEqual({ prices: fresh, held: {} });
});

it("a price that was wrong once is not held any longer", () => {
  expect(withoutFallen(OLD, { "m5.large": 0.1 }, { "m5.large": 0.0001 })).toEqual({ prices: { "m5.large": 0.1 }, held: {} });
  expect(withoutFallen(OLD, { "m5.large": 0.021 }).held).toEqual({});
});

it("spot prices are held by type and zone", () => {
  const old = { "m5.large": { a: 0.04, b: 0.04 } };
  const first = withoutFallenSpot(old, { "m5.large": { a: 0.0001, b: 0.05 } });
  expect(first).toEqual({ prices: { "m5.large": { b: 0.05 } }, held: { "m5.large": { a: 0.0001 } } });
  expect(withoutFallenSpot(old, { "m5.large": { a: 0.0001 } }, first.held).prices).toEqual({ "m5.large": { a: 0.0001 } });
});
