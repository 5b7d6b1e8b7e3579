import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseDuration } from "#core/lib/duration.ts";
import { parseInt64 } from "#core/lib/int64.ts";
import { formatQuantity, parseQuantity } from "#core/model/quantity.ts";
import { has, isReadable, requirement, serialize } from "#core/requirements/requirement.ts";
import { requirementProblem } from "#core/requirements/validation.ts";
import { type Reading, readsAlike } from "./amounts.ts";

// `node test/hostile/amounts.ts --table` writes them.
const kept = JSON.parse(readFileSync(new URL("amounts.golden.json", import.meta.url), "utf8")) as readonly (readonly [
  Reading["kind"],
  string,
  string,
])[];

it.for(["quantity", "integer", "duration"] as const)("each %s that is kept is read as Kubernetes and Go read it", (kind) => {
  const readings = kept.filter(([one]) => one === kind).map(([, text, want]) => ({ kind, text, want }));
  expect(readings.length).toBeGreaterThan(80);
  expect(readings.filter((reading) => !readsAlike(reading))).toEqual([]);
});

const digits = fc.string({ unit: fc.constantFrom("0", "1", "9"), maxLength: 60 });

it("a quantity rounds up to a thousandth, and is finite", () => {
  fc.assert(
    fc.property(digits, digits, fc.constantFrom("", "n", "k", "Ki", "Ei", "e7", "e-4"), (whole, fraction, suffix) => {
      fc.pre(whole !== "");
      const milli = parseQuantity(`${whole}.${fraction}${suffix}`);
      expect(Number.isInteger(milli) && Number.isFinite(milli)).toBe(true);
      expect(milli === 0).toBe(!/[19]/.test(whole + fraction));
      expect(parseQuantity(`${whole}.${fraction}0${suffix}`)).toBe(milli);
      expect(parseQuantity(formatQuantity(milli, "memory"))).toBe(milli);
    }),
  );
});

it("a bound on a label is read, kept and written as an integer of 64 bits, or the requirement is unreadable", () => {
  const bound = fc.oneof(digits, fc.bigInt(-(2n ** 64n), 2n ** 64n).map(String), fc.constant("99999999999999999999999999"));
  fc.assert(
    fc.property(fc.constantFrom("Gt", "Gte", "Lt", "Lte"), bound, bound, (operator, text, label) => {
      const limit = parseInt64(text);
      expect(isReadable({ operator, values: [text] })).toBe(limit !== undefined);
      if (limit === undefined) {
        expect(() => requirement("k", operator as "Gt", [text])).toThrow(RangeError);
        return;
      }
      const item = requirement("k", operator as "Gt", [text]);
      const value = parseInt64(label);
      fc.pre(value === undefined || value >= 0n);
      const meets = {
        Gt: () => (value ?? 0n) > limit,
        Gte: () => (value ?? 0n) >= limit,
        Lt: () => (value ?? 0n) < limit,
        Lte: () => (value ?? 0n) <= limit,
      };
      expect(has(item, label)).toBe(value !== undefined && meets[operator as "Gt"]());
      if (item.never) return;
      // What is written into a NodeClaim is valid there, and read as it was meant.
      for (const written of serialize(item)) {
        expect(requirementProblem(written)).toBeUndefined();
        expect(requirement(written.key, written.operator, written.values)).toEqual(item);
      }
    }),
  );
});

it("a duration is a finite number of milliseconds that a date can be away, or it is refused", () => {
  fc.assert(
    fc.property(digits, digits, fc.constantFrom("h", "m", "s", "ns"), (whole, fraction, unit) => {
      const ms = parseDuration(`${whole}.${fraction}${unit}`);
      if (ms !== undefined) expect(Number.isFinite(new Date(ms).getTime())).toBe(true);
    }),
  );
});
