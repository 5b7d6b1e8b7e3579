import type { Random } from "#lab/world/random.ts";

/** Values at the edges of what an API server admits, field by field. Each draw gives one that the grammar allows. */

const repeated = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length);

/** Names that every object of JavaScript inherits, or that read as something else, and are lawful label keys. */
export const KEYS: readonly [string, ...string[]] = [
  ...([
    "constructor",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "isPrototypeOf",
    "toLocaleString",
    "null",
    "undefined",
    "NaN",
    "0",
  ] as const),
  ...["1e3", "true", "length", "then", "A", "a.b_c-D", repeated("k", 63), "example.com/constructor", `${repeated("a", 50)}.io/x`],
  ...[
    `${repeated("d.", 252)}e/${repeated("n", 63)}`,
    "karpenter.k8s.aws/instance-cpu",
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
  ],
];

export const LABEL_VALUES: readonly [string, ...string[]] = [
  "",
  "x",
  "0",
  "constructor",
  "1e26",
  repeated("v", 63),
  "A_b.c-9",
  "9".repeat(26),
];

/** Quantities that kube-apiserver admits in a pod, at the edges of size, precision and form. */
export const QUANTITIES: readonly [string, ...string[]] = [
  ...([
    "0",
    "1",
    "1m",
    "100n",
    "1u",
    "0.5",
    ".5",
    "5.",
    "1e3",
    "1E3",
    "1e-3",
    "1Ei",
    "16Ei",
    "8Ei",
    "9223372036854775807",
    "1e18",
  ] as const),
  ...["1e9999", "1e99", `0.${"0".repeat(40)}1`, "9".repeat(60), "0".repeat(200), "1e-9999", "1Gi", "+1"],
];

/** Quantities that the CRDs' patterns let in although some are none. */
export const CRD_QUANTITIES: readonly [string, ...string[]] = [...QUANTITIES, "1e1.5", "-1", "1e9.9", "-0", "1e+5", "12E"] as const;

export const INTEGERS: readonly [number, ...number[]] = [0, 1, 2, 7, 100, 32_767, 2 ** 31 - 1];
export const SIGNED: readonly [number, ...number[]] = [...INTEGERS, -1, -(2 ** 31)] as [number, ...number[]];

export const TIMES: readonly [string, ...string[]] = [
  ...(["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] as const),
];

export const DURATIONS: readonly [string, ...string[]] = [
  "0s",
  "1s",
  "30s",
  "720h",
  "99999999999999999999h",
  "1h1m1s",
  "Never",
  "2562047h",
];

/** Values of Gt and Lt: integers as text, which 64 bits need not hold. */
export const BOUNDS: readonly [string, ...string[]] = ["0", "1", "4", "9".repeat(18), "9223372036854775807", "9".repeat(26)];

export const UNICODE: readonly [string, ...string[]] = ["", "ü€😀", "\u202Etxt", repeated("長", 1_000), "{{ x }}", "$X"];

/** A valid name of an object, at the edges of length and form; `i` keeps it unique. */
export function nameAt(random: Random, i: number, longest = 253): string {
  const own = `h${i}`;
  return random.pick<() => string>([
    () => own,
    () => `${own}-${random.pick(["constructor", "to-string", "null", "0", "default"])}`,
    () => `${own}-${repeated("a", Math.min(63, longest) - own.length - 1)}`,
    () => `${own}-${repeated("a", longest - own.length - 1)}`,
  ])();
}

/** A number of items: mostly few, seldom very many. */
export const countOf = (random: Random, most: number): number => (random.next() < 0.05 ? most : random.between(0, 3));

export const several = <T>(random: Random, most: number, draw: (i: number) => T): readonly T[] =>
  Array.from({ length: countOf(random, most) }, (_, i) => draw(i));

/** The field with probability `chance`; an empty object otherwise. */
export const maybe = <T extends object>(random: Random, chance: number, draw: () => T): Partial<T> =>
  random.next() < chance ? draw() : {};
