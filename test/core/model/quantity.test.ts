import fc from "fast-check";
import { expect, it } from "vitest";
import {
  addResources,
  fits,
  formatQuantity,
  maxResources,
  parseQuantity,
  parseResources,
  subtractResources,
} from "#core/model/quantity.ts";

it.for([
  ["1930m", 1930],
  ["2", 2000],
  [2, 2000],
  [0.5, 500],
  ["0.1", 100],
  [".5", 500],
  ["6903Mi", 6903 * 2 ** 20 * 1000],
  ["2.147483648e+09", 2_147_483_648_000],
  ["17Gi", 17 * 2 ** 30 * 1000],
  ["1.5Gi", 1.5 * 2 ** 30 * 1000],
  ["5G", 5e12],
  ["100n", 1],
  ["-3", -3000],
  ["24Ti", 24 * 2 ** 40 * 1000],
  ["-0.0001", -1],
  [16.1, 16_100],
] as const)("%s is %d milli-units", ([text, milli]) => {
  expect(parseQuantity(text)).toBe(milli);
});

it.for(["", "1x", "1 Gi", "1e", "--1", "NaN", "0x10"])("parseQuantity refuses %j and names it", (text) => {
  expect(() => parseQuantity(text)).toThrow(RangeError);
  expect(() => parseQuantity(text)).toThrow(JSON.stringify(text));
});

it("parseResources names the resource of an invalid quantity", () => {
  expect(() => parseResources({ cpu: "one" })).toThrow(/resource cpu: quantity "one"/);
});

it("formatQuantity prints what parseQuantity reads", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 50 }), fc.constantFrom("cpu", "memory", "pods"), (milli, resource) => {
      expect(parseQuantity(formatQuantity(milli, resource))).toBe(milli);
    }),
  );
  expect(formatQuantity(parseQuantity("6903Mi"), "memory")).toBe("6903Mi");
  expect(formatQuantity(1930, "cpu")).toBe("1930m");
  expect(formatQuantity(29_000, "pods")).toBe("29");
});

it("resources are added, subtracted, maximized and compared by name", () => {
  expect(addResources({ cpu: 1 }, { cpu: 2, gpu: 3 })).toEqual({ cpu: 3, gpu: 3 });
  expect(subtractResources({ cpu: 1 }, { cpu: 2, gpu: 3 })).toEqual({ cpu: -1, gpu: -3 });
  expect(maxResources({ cpu: 1 }, { cpu: 2, gpu: 3 })).toEqual({ cpu: 2, gpu: 3 });
  expect(fits({ cpu: 100, gpu: 0 }, { cpu: 100 })).toBe(true);
  expect(fits({ gpu: 1 }, { cpu: 100 })).toBe(false);
  expect(fits({ cpu: 1 }, { cpu: 100, memory: -1 })).toBe(false);
});

it.for(["1e9999", "10E", "1".repeat(40_000), 1e300])("%s units, more than any machine has, are a finite amount", (text) => {
  const most = parseQuantity(text);
  expect(Number.isFinite(most * 1_000_000)).toBe(true);
  expect(fits({ memory: most }, { memory: parseQuantity("7Ei") })).toBe(false);
});
