import { parseDuration } from "../lib/duration.ts";
import { isJsonObject } from "../lib/json.ts";
import { nearest } from "../lib/nearest.ts";
import { amountProblem, parseQuantity } from "../model/quantity.ts";
import type { FieldType, ScalarType } from "./kubelet-fields.ts";

const INT32 = 2 ** 31;
const isWithin = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const isDuration = (value: unknown): boolean => typeof value === "string" && parseDuration(value) !== undefined;
const isQuantity = (value: unknown): boolean =>
  (typeof value === "string" || typeof value === "number") && amountProblem(() => parseQuantity(value)) === undefined;

/** What a scalar must be, in words, and whether a value is it. */
const SCALARS: Readonly<Record<ScalarType, readonly [what: string, is: (value: unknown) => boolean]>> = {
  string: ["a string; put it in quotes", (value) => typeof value === "string"],
  bool: ["true or false without quotes", (value) => typeof value === "boolean"],
  int32: ["a whole number of 32 bits without quotes", (value) => isWithin(value, -INT32, INT32 - 1)],
  // A larger number is rounded when JSON is read, so that it cannot be checked further.
  int64: ["a whole number of 64 bits without quotes", (value) => isWithin(value, -(2 ** 63), 2 ** 63)],
  uint32: ["a whole number from 0 to 4294967295 without quotes", (value) => isWithin(value, 0, 2 * INT32 - 1)],
  float64: ["a number without quotes", Number.isFinite],
  duration: ["a duration like 30s or 1h30m", isDuration],
  durationOrNanoseconds: [
    "a duration like 5s, or a whole number of nanoseconds",
    (value) => isDuration(value) || isWithin(value, -(2 ** 63), 2 ** 63),
  ],
  quantity: ["a quantity like 500Mi or 2", isQuantity],
};

/** Durations and quantities read a null like any other value; for all other types Go takes it as absent. */
const REFUSES_NULL: ReadonlySet<FieldType> = new Set<FieldType>(["duration", "durationOrNanoseconds"]);

/** Each part of a value that is not of its type, or that no field holds, as a sentence that begins with its path. */
export function typeProblems(value: unknown, type: FieldType, path: string): readonly string[] {
  if (value === null && !REFUSES_NULL.has(type)) return [];
  if (typeof type === "string") {
    const [what, is] = SCALARS[type];
    return is(value) ? [] : [`${path}: ${shown(value)} is not ${what}`];
  }
  if (isListType(type)) {
    if (!Array.isArray(value)) return [`${path}: ${shown(value)} is not a list`];
    return value.flatMap((item, i) => typeProblems(item, type[0], `${path}[${i}]`));
  }
  if (!isJsonObject(value)) return [`${path}: ${shown(value)} is not a map`];
  return Object.entries(value).flatMap(([name, one]) => fieldProblems(name, one, type, path));
}

const isListType = (type: FieldType): type is readonly [FieldType] => Array.isArray(type);

function fieldProblems(name: string, value: unknown, fields: { readonly [field: string]: FieldType }, path: string): readonly string[] {
  if (fields["*"] !== undefined) return typeProblems(value, fields["*"], `${path}[${name}]`);
  const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (type !== undefined) return typeProblems(value, type, `${path}.${name}`);
  const meant = nearest(name, Object.keys(fields));
  return [`${path}.${name}: the kubelet has no such field; ${meant === undefined ? "take it out" : `write ${meant}`}`];
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
