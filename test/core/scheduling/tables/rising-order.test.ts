import fc from "fast-check";
import { expect, it } from "vitest";
import { risingOrder } from "#core/scheduling/tables/rising-order.ts";

const value = fc.oneof(fc.constantFrom(0, 0.1, 0.1000001, 0.10000011, 0.2), fc.double({ min: 0, max: 1e12, noNaN: true }));

it("indexes are in the order of their values, and of the indexes where values are equal, however close or large they are", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.func(fc.boolean()), (list, isChosen) => {
      const values = Float64Array.from(list);
      const chosen = [...values.keys()].filter((index) => isChosen(index));
      const sorted = [...chosen].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);
      expect(risingOrder(chosen, values)).toEqual(sorted);
    }),
  );
});
