import { expect, it } from "vitest";
import { fields, listOf, mapOf, number, string, time } from "#core/lib/shape.ts";

const POINT = fields({ x: number, tags: mapOf(string) }, { at: time, names: listOf(string) });

it.for<{ what: string; value: unknown; problem: string | undefined }>([
  { what: "all fields", value: { x: 1, tags: { a: "b" }, at: 0, names: ["n"] }, problem: undefined },
  { what: "the required fields, and one that is not known", value: { x: 1, tags: {}, later: null }, problem: undefined },
  { what: "no object", value: [], problem: "p is missing or is no object" },
  { what: "a missing field", value: { tags: {} }, problem: "p.x is missing or is no number" },
  { what: "a number that is not finite", value: JSON.parse('{"x":1e999,"tags":{}}'), problem: "p.x is missing or is no number" },
  { what: "null, which is no value", value: { x: 1, tags: {}, names: null }, problem: "p.names is missing or is no list" },
  { what: "an odd item", value: { x: 1, tags: {}, names: ["a", 7] }, problem: "p.names[1] is missing or is no string" },
  { what: "an odd value of a map", value: { x: 1, tags: { constructor: {} } }, problem: "p.tags.constructor is missing or is no string" },
  { what: "a time that no date can show", value: { x: 1, tags: {}, at: 1e16 }, problem: "p.at is missing or is no time" },
])("a shape says where a value differs: $what", ({ value, problem }) => {
  expect(POINT(value, "p")).toBe(problem);
});
