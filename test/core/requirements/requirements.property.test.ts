import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NodeSelectorRequirementWithMinValues, RequirementOperator } from "#core/model/node-pool.ts";
import { canonical } from "#core/requirements/requirement.ts";
import {
  compatible,
  conflictOf,
  intersectAll,
  type Requirements,
  requirementsFrom,
  serializeAll,
} from "#core/requirements/requirements.ts";

fc.configureGlobal({ seed: 20_261_121, numRuns: 300 });

/**
 * Sets of requirements against a judge that tries every value. ABSENT is a node without the label; numbers come in two
 * spellings, since an order operator compares numbers and NotIn compares texts.
 */
const ABSENT = Symbol("absent");
const VALUES = ["0", "1", "2", "3", "4", "5", "00", "01", "02", "03", "04", "05", "x", "y", "neither"];
const KEYS = ["k", "l"];
const EVERY: readonly (string | typeof ABSENT)[] = [ABSENT, ...VALUES];

type Item = NodeSelectorRequirementWithMinValues;

/** Whether a node whose label is `value` meets one item, as kube-scheduler reads it. */
function meets({ operator, values = [] }: Item, value: string | typeof ABSENT): boolean {
  if (value === ABSENT) return operator === "NotIn" || operator === "DoesNotExist";
  const n = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  const bound = Number(values[0]);
  switch (operator) {
    case "In":
      return values.includes(value);
    case "NotIn":
      return !values.includes(value);
    case "Exists":
      return true;
    case "DoesNotExist":
      return false;
    case "Gt":
      return n > bound;
    case "Gte":
      return n >= bound;
    case "Lt":
      return n < bound;
    case "Lte":
      return n <= bound;
  }
}

/** The values that all items of a key allow; undefined when no item has the key. */
function allowed(items: readonly Item[], key: string): ReadonlySet<string | typeof ABSENT> | undefined {
  const own = items.filter((item) => item.key === key);
  if (own.length === 0) return undefined;
  return new Set(EVERY.filter((value) => own.every((item) => meets(item, value))));
}

const item: fc.Arbitrary<Item> = fc
  .tuple(
    fc.constantFrom(...KEYS),
    fc.constantFrom<RequirementOperator>("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Gte", "Lt", "Lte"),
    fc.subarray(["1", "2", "3", "x"], { minLength: 1, maxLength: 3 }),
    // So that VALUES has values beyond every bound.
    fc.integer({ min: 1, max: 4 }),
    fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
  )
  .map(([key, operator, values, bound, minValues]) => ({
    key,
    operator,
    ...(operator === "In" || operator === "NotIn" ? { values } : /^[GL]t/.test(operator) ? { values: [String(bound)] } : {}),
    ...(minValues === undefined ? {} : { minValues }),
  }));
const items = fc.array(item, { maxLength: 4 });
const texts = (set: Requirements): readonly string[] => [...set.values()].map(canonical).sort();

describe("a set", () => {
  it("a set allows what all of its items allow", () => {
    fc.assert(
      fc.property(items, fc.constantFrom(...KEYS), fc.constantFrom(...EVERY), (list, key, value) => {
        const node: Item[] = value === ABSENT ? [] : [{ key, operator: "In", values: [value as string] }];
        const own = list.filter((one) => one.key === key);
        expect(compatible(requirementsFrom(node), requirementsFrom(own))).toBe(own.every((one) => meets(one, value)));
      }),
    );
  });

  it("a set does not depend on the order and the grouping of its items", () => {
    fc.assert(
      fc.property(items, items, items, (a, b, c) => {
        const [x, y, z] = [requirementsFrom(a), requirementsFrom(b), requirementsFrom(c)];
        const all = texts(requirementsFrom([...a, ...b, ...c]));
        expect(texts(intersectAll(x, y, z))).toEqual(all);
        expect(texts(intersectAll(z, intersectAll(y, x)))).toEqual(all);
        expect(texts(intersectAll(x, x, y, z, x))).toEqual(all);
        expect(texts(requirementsFrom([...c, ...a, ...b].reverse()))).toEqual(all);
      }),
    );
  });

  it("a set keeps the largest minValues of each key", () => {
    fc.assert(
      fc.property(items, (list) => {
        for (const [key, { minValues }] of requirementsFrom(list)) {
          const own = list.flatMap((one) => (one.key === key && one.minValues !== undefined ? [one.minValues] : []));
          expect(minValues).toBe(own.length === 0 ? undefined : Math.max(...own));
        }
      }),
    );
  });

  it("a set is equal after it is serialized and parsed, unless nothing meets it", () => {
    fc.assert(
      fc.property(items, (list) => {
        const set = requirementsFrom(list);
        fc.pre([...set.values()].every(({ never }) => !never));
        expect(texts(requirementsFrom(serializeAll(set)))).toEqual(texts(set));
      }),
    );
  });
});

describe("two sets", () => {
  it("two sets agree exactly when each common key has a common value, or may be absent in both", () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        const clash = KEYS.some((key) => {
          const [left, right] = [allowed(a, key), allowed(b, key)];
          return left !== undefined && right !== undefined && ![...left].some((value) => right.has(value));
        });
        const found = conflictOf(requirementsFrom(a), requirementsFrom(b));
        expect(found !== undefined).toBe(clash);
        expect(conflictOf(requirementsFrom(b), requirementsFrom(a)) !== undefined).toBe(clash);
        if (found !== undefined) expect([...(allowed(a, found.key) ?? [])].some((value) => allowed(b, found.key)?.has(value))).toBe(false);
      }),
    );
  });

  it("two sets are compatible when they agree and the node has, may leave open, or need not have each required label", () => {
    fc.assert(
      fc.property(items, items, fc.subarray(KEYS), (node, wanted, open) => {
        const want = KEYS.every((key) => {
          const [has, wants] = [allowed(node, key), allowed(wanted, key)];
          if (wants === undefined) return true;
          if (has === undefined) return open.includes(key) || wants.has(ABSENT);
          return [...has].some((value) => wants.has(value));
        });
        expect(compatible(requirementsFrom(node), requirementsFrom(wanted), new Set(open))).toBe(want);
      }),
    );
  });

  it("two compatible sets intersect to a set that is compatible with both", () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        const [x, y] = [requirementsFrom(a), requirementsFrom(b)];
        fc.pre(compatible(x, y, new Set(KEYS)));
        const both = intersectAll(x, y);
        fc.pre([...both.values()].every(({ never }) => !never));
        expect(conflictOf(both, x)).toBeUndefined();
        expect(conflictOf(both, y)).toBeUndefined();
      }),
    );
  });
});
