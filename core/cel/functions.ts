import { matches } from "./matches.ts";
import { CelError } from "./tokens.ts";
import type { Type, Value } from "./types.ts";

/** One way to call a function: the types of its arguments, the target first, and what it gives. */
export interface Overload {
  readonly args: readonly Type[];
  readonly result: Type;
  readonly run: (...args: never[]) => Value;
}

const MIN_INT = -(2n ** 63n);

/** A result in 64 bits, or an error: neither int nor uint wraps around. */
function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError("integer overflow");
  return value;
}

function uint(value: bigint): bigint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError("unsigned integer overflow");
  return value;
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new CelError("division by zero");
  return value;
}

const two = (type: Type, result: Type, run: Overload["run"]): Overload => ({ args: [type, type], result, run });
const one = (type: Type, result: Type, run: Overload["run"]): Overload => ({ args: [type], result, run });

const arithmetic = (whole: (a: bigint, b: bigint) => bigint, real?: (a: number, b: number) => number): readonly Overload[] => [
  two("int", "int", (a: bigint, b: bigint) => int(whole(a, b))),
  two("uint", "uint", (a: bigint, b: bigint) => uint(whole(a, b))),
  ...(real ? [two("double", "double", real)] : []),
];

/** Nothing holds for NaN. */
const comparison = (holds: (order: number) => boolean): readonly Overload[] => {
  const compare = <T extends bigint | number | string | boolean>(a: T, b: T): boolean =>
    holds(a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN);
  return (["int", "uint", "double", "string", "bool"] as const).map((type) => two(type, "bool", compare));
};

/** max and min of ints and doubles; with a double the result is one. */
function extreme(isFirst: (a: bigint | number, b: bigint | number) => boolean): readonly Overload[] {
  const whole = (a: bigint, b: bigint): bigint => (isFirst(a, b) ? a : b);
  const real = (a: bigint | number, b: bigint | number): number => (isFirst(Number(a), Number(b)) ? Number(a) : Number(b));
  return [
    two("int", "int", whole),
    two("double", "double", real),
    { args: ["int", "double"], result: "double", run: real },
    { args: ["double", "int"], result: "double", run: real },
  ];
}

const onTexts = (test: (text: string, part: string) => boolean): readonly Overload[] => [two("string", "bool", test)];

function intOfDouble(value: number): bigint {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function uintOfDouble(value: number): bigint {
  if (!(value >= 0 && value < 2 ** 64)) throw new CelError("unsigned integer overflow");
  return BigInt(Math.trunc(value));
}

function parsed<T>(text: string, pattern: RegExp, read: (text: string) => T): T {
  if (!pattern.test(text)) throw new CelError(`${JSON.stringify(text.slice(0, 40))} is no number`);
  return read(text);
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ...["inf", "+inf", "infinity", "+infinity"].map((text) => [text, Number.POSITIVE_INFINITY] as const),
  ...["-inf", "-infinity"].map((text) => [text, Number.NEGATIVE_INFINITY] as const),
  ["nan", Number.NaN],
]);

function doubleOf(text: string): number {
  const special = SPECIAL.get(text.toLowerCase());
  if (special !== undefined) return special;
  const value = parsed(text, /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, Number);
  if (!Number.isFinite(value)) throw new CelError(`${text.slice(0, 40)} is too large for a double`);
  return value;
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

function boolOf(text: string): boolean {
  const value = BOOLS.get(text);
  if (value === undefined) throw new CelError(`${JSON.stringify(text.slice(0, 40))} is no boolean`);
  return value;
}

/** Go's %g: an exponent of two digits from a million up and below 1e-4. */
function textOfDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return Object.is(value, -0) ? "-0" : String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

const same = (value: Value): Value => value;
const count: Overload["run"] = (value: string | readonly Value[] | ReadonlyMap<Value, Value>) =>
  BigInt(typeof value === "string" ? [...value].length : value instanceof Map ? value.size : (value as readonly Value[]).length);
const SIZES: readonly Overload[] = (["string", { list: "any" }, { map: ["any", "any"] }] satisfies Type[]).map((type) =>
  one(type, "int", count),
);
const MATCHES = onTexts(matches);

/** Functions and operators by name; those of a target begin with a dot. */
export const FUNCTIONS: Readonly<Record<string, readonly Overload[]>> = {
  "_+_": [
    ...arithmetic(
      (a, b) => a + b,
      (a, b) => a + b,
    ),
    two("string", "string", (a: string, b: string) => a + b),
    two({ list: "any" }, { list: "any" }, (a: readonly Value[], b: readonly Value[]) => [...a, ...b]),
  ],
  "_-_": arithmetic(
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  "_*_": arithmetic(
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  "_/_": arithmetic(
    (a, b) => a / divisor(b),
    (a, b) => a / b,
  ),
  "_%_": arithmetic((a, b) => {
    if (a === MIN_INT && b === -1n) throw new CelError("integer overflow");
    return a % divisor(b);
  }),
  "-_": [one("int", "int", (a: bigint) => int(-a)), one("double", "double", (a: number) => -a)],
  "!_": [one("bool", "bool", (a: boolean) => !a)],
  "_<_": comparison((order) => order < 0),
  "_<=_": comparison((order) => order <= 0),
  "_>_": comparison((order) => order > 0),
  "_>=_": comparison((order) => order >= 0),
  max: extreme((a, b) => a > b),
  min: extreme((a, b) => a < b),
  size: SIZES,
  ".size": SIZES,
  ".contains": onTexts((text, part) => text.includes(part)),
  ".startsWith": onTexts((text, part) => text.startsWith(part)),
  ".endsWith": onTexts((text, part) => text.endsWith(part)),
  matches: MATCHES,
  ".matches": MATCHES,
  int: [
    one("int", "int", same),
    one("uint", "int", (a: bigint) => int(a)),
    one("double", "int", intOfDouble),
    one("string", "int", (text: string) => int(parsed(text, /^[+-]?\d+$/, (digits) => BigInt(digits.replace("+", ""))))),
  ],
  uint: [
    one("uint", "uint", same),
    one("int", "uint", (a: bigint) => uint(a)),
    one("double", "uint", uintOfDouble),
    one("string", "uint", (text: string) => uint(parsed(text, /^\d+$/, BigInt))),
  ],
  double: [
    one("double", "double", same),
    one("int", "double", (a: bigint) => Number(a)),
    one("uint", "double", (a: bigint) => Number(a)),
    one("string", "double", doubleOf),
  ],
  string: [
    one("string", "string", same),
    ...(["int", "uint", "bool"] as const).map((type) => one(type, "string", (a: bigint | boolean) => String(a))),
    one("double", "string", textOfDouble),
  ],
  bool: [one("bool", "bool", same), one("string", "bool", boolOf)],
};
