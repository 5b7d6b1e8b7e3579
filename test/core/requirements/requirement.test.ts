import fc from "fast-check";
import { expect, it } from "vitest";
import type { RequirementOperator } from "#core/model/node-pool.ts";
import {
  allowsAbsent,
  canonical,
  has,
  intersect,
  operatorOf,
  overlaps,
  type Requirement,
  requirement,
  serialize,
} from "#core/requirements/requirement.ts";
import {
  compatible,
  intersectAll,
  labelsCompatible,
  requirementsFrom,
  requirementsFromLabels,
  serializeAll,
} from "#core/requirements/requirements.ts";

const UNIVERSE = ["1", "2", "3", "4", "5", "x", "y"];
const values = fc.subarray(UNIVERSE, { minLength: 1, maxLength: 3 });
const bound = fc.integer({ min: 0, max: 6 }).map((n) => [String(n)]);
const anyRequirement: fc.Arbitrary<Requirement> = fc
  .oneof(
    fc.tuple(fc.constantFrom<RequirementOperator>("In", "NotIn"), values),
    fc.tuple(fc.constantFrom<RequirementOperator>("Exists", "DoesNotExist"), fc.constant<string[]>([])),
    fc.tuple(fc.constantFrom<RequirementOperator>("Gt", "Lt", "Gte", "Lte"), bound),
  )
  .map(([operator, list]) => requirement("k", operator, list));

/** kube-scheduler's rule for one operator and one value; the reference for the algebra. */
function says(operator: RequirementOperator, list: readonly string[], value: string): boolean {
  const n = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  const limit = Number(list[0]);
  switch (operator) {
    case "In":
      return list.includes(value);
    case "NotIn":
      return !list.includes(value);
    case "Exists":
      return true;
    case "DoesNotExist":
      return false;
    case "Gt":
      return n > limit;
    case "Gte":
      return n >= limit;
    case "Lt":
      return n < limit;
    case "Lte":
      return n <= limit;
  }
}

it("each operator allows what it says", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<RequirementOperator>("In", "NotIn", "Gt", "Lt", "Gte", "Lte", "Exists", "DoesNotExist"),
      fc.nat(6),
      fc.constantFrom(...UNIVERSE),
      (operator, n, value) => {
        const list =
          (operator.endsWith("t") && operator !== "Exists" && operator !== "DoesNotExist") || operator.endsWith("e")
            ? [String(n)]
            : operator === "In" || operator === "NotIn"
              ? [String(n)]
              : [];
        expect(has(requirement("k", operator, list), value)).toBe(says(operator, list, value));
      },
    ),
  );
});

it("an intersection allows exactly what both allow", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, (a, b) => {
      const both = intersect(a, b);
      for (const value of UNIVERSE) expect(has(both, value)).toBe(has(a, value) && has(b, value));
    }),
  );
});

it("intersection is commutative, associative, idempotent, with Exists as identity", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, anyRequirement, (a, b, c) => {
      expect(canonical(intersect(a, b))).toBe(canonical(intersect(b, a)));
      expect(canonical(intersect(intersect(a, b), c))).toBe(canonical(intersect(a, intersect(b, c))));
      expect(canonical(intersect(a, a))).toBe(canonical(a));
      const there = intersect(a, requirement("k", "Exists"));
      expect(canonical(intersect(there, requirement("k", "Exists")))).toBe(canonical(there));
      if (!allowsAbsent(a)) expect(canonical(there)).toBe(canonical(a));
    }),
  );
});

it("a label may be absent only where both allow it", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, (a, b) => {
      const both = intersect(a, b);
      expect(allowsAbsent(both)).toBe(allowsAbsent(a) && allowsAbsent(b));
    }),
  );
});

it("overlaps agrees with the intersection", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, (a, b) => {
      const both = intersect(a, b);
      expect(overlaps(a, b)).toBe(both.complement || both.values.size > 0);
    }),
  );
});

it("a requirement is equal after it is serialized and parsed", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, (a, b) => {
      const both = intersect(a, b);
      const read = requirementsFrom(serialize(both)).get("k");
      if (!both.never) expect(read && canonical(read)).toBe(canonical(both));
      for (const value of UNIVERSE) expect(read !== undefined && has(read, value)).toBe(has(both, value));
    }),
  );
});

it.for([
  { name: "Gt 3 and Lt 4 leave nothing", a: requirement("k", "Gt", ["3"]), b: requirement("k", "Lt", ["4"]), want: "DoesNotExist" },
  { name: "Gt 3 keeps 5 of 2, 5, x", a: requirement("k", "Gt", ["3"]), b: requirement("k", "In", ["2", "5", "x"]), want: "In" },
])("$name", ({ a, b, want }) => {
  expect(operatorOf(intersect(a, b))).toBe(want);
});

it("a serialized requirement keeps the larger minValues and both bounds", () => {
  const both = intersect(requirement("k", "Gt", ["3"], 2), requirement("k", "Lt", ["9"], 5));
  expect(serialize(both)).toEqual([
    { key: "k", operator: "Gte", values: ["4"], minValues: 5 },
    { key: "k", operator: "Lte", values: ["8"], minValues: 5 },
  ]);
});

it("an order operator without exactly one integer is refused", () => {
  expect(() => requirement("k", "Gt", ["a"])).toThrow(/k Gt takes exactly one integer/);
  expect(() => requirement("k", "Lt", ["1", "2"])).toThrow(RangeError);
});

const labels = fc.dictionary(fc.constantFrom("k", "team"), fc.constantFrom(...UNIVERSE));

it("a labelled node takes a pod exactly when every requirement holds for its label", () => {
  fc.assert(
    fc.property(labels, anyRequirement, (node, wanted) => {
      const set = intersectAll(new Map([["k", wanted]]));
      const value = node["k"];
      const want = value === undefined ? allowsAbsent(wanted) : has(wanted, value);
      expect(compatible(requirementsFromLabels(node), set)).toBe(want);
      expect(labelsCompatible(node, set)).toBe(want);
    }),
  );
});

it.for([
  { operator: "In" as const, values: ["a"], undefinedOk: false },
  { operator: "Exists" as const, values: [], undefinedOk: false },
  { operator: "NotIn" as const, values: ["a"], undefinedOk: true },
  { operator: "DoesNotExist" as const, values: [], undefinedOk: true },
  { operator: "Gt" as const, values: ["1"], undefinedOk: false },
])("a node without the label takes $operator: $undefinedOk", ({ operator, values: list, undefinedOk }) => {
  const wanted = requirementsFrom([{ key: "k", operator, values: list }]);
  expect(compatible(new Map(), wanted)).toBe(undefinedOk);
  expect(compatible(new Map(), wanted, new Set(["k"]))).toBe(true);
});

it("old keys are normalized, and requirements are serialized in key order", () => {
  const set = requirementsFrom([
    { key: "failure-domain.beta.kubernetes.io/zone", operator: "In", values: ["b", "a"] },
    { key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["a"] },
    { key: "beta.kubernetes.io/arch", operator: "Exists" },
  ]);
  expect(serializeAll(set)).toEqual([
    { key: "kubernetes.io/arch", operator: "Exists" },
    { key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] },
  ]);
});
