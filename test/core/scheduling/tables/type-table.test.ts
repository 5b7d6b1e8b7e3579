import fc from "fast-check";
import { expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import { conflictOf, requirementsFrom } from "#core/requirements/requirements.ts";
import { hasBit } from "#core/scheduling/tables/bitset.ts";
import { TypeTable } from "#core/scheduling/tables/type-table.ts";

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const zone = fc.constantFrom("a", "b", "c");
const values = fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1, maxLength: 2 });
const requirement = fc.oneof(
  fc.record({ key: fc.constantFrom("size", "kind"), operator: fc.constantFrom("In" as const, "NotIn" as const), values }),
  fc.record({ key: fc.constantFrom("size", "kind"), operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const) }),
);
const offering = fc.record({
  zone,
  capacityType: fc.constantFrom("spot" as const, "on-demand" as const),
  price: fc.integer({ min: 1, max: 9 }),
  available: fc.boolean(),
});
const types = fc
  .array(fc.record({ requirements: fc.array(requirement, { maxLength: 3 }), offerings: fc.array(offering, { maxLength: 5 }) }), {
    maxLength: 8,
  })
  .map((list) => list.map((type, i): InstanceType => ({ ...type, name: `type-${i}`, capacity: {}, overhead: {} })));

it("the table admits and prices types like a scan of all types", () => {
  fc.assert(
    fc.property(types, fc.array(requirement, { maxLength: 2 }), zone, fc.boolean(), (list, wanted, where, isPinned) => {
      const pin = isPinned ? [{ key: ZONE, operator: "In" as const, values: [where] }] : [];
      const spot = { key: CAPACITY_TYPE, operator: "In" as const, values: ["spot"] };
      const requirements = requirementsFrom([...wanted, ...pin, spot]);
      const set = { id: 0, requirements };
      const table = new TypeTable(list);
      const { byType, order } = table.prices(set);
      for (const [t, { requirements: own, offerings }] of table.types.entries()) {
        const prices = offerings
          .filter(({ available, capacityType, zone: there }) => available && capacityType === "spot" && (!isPinned || there === where))
          .map(({ price }) => price);
        const price = Math.min(...prices);
        expect(byType[t]).toBe(price);
        expect(order.includes(t)).toBe(prices.length > 0);
        const agrees = conflictOf(requirementsFrom(own), requirements) === undefined;
        expect(hasBit(table.admitted(set), t)).toBe(agrees && prices.length > 0);
      }
    }),
  );
});
