import { parseInt64 } from "../lib/int64.ts";
import { ownValue } from "../lib/own-value.ts";
import type { ResourceList } from "./kubernetes.ts";

/**
 * Kubernetes quantities as numbers in **milli-units** of the resource ("1930m" cpu is 1930, "1Ki" is 1 024 000).
 * One scale for every resource keeps sums and comparisons in integers, which binary floating point adds without error
 * up to 2^53; whole units are multiples of 8, so byte counts stay exact up to 64 TiB a number. Anything finer than a
 * thousandth is rounded away from zero, as the API server does.
 */
export type Resources = Readonly<Record<string, number>>;

const DECIMAL_EXPONENT: ReadonlyMap<string, number> = new Map(
  Object.entries({ n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }),
);
const BINARY_EXPONENT: ReadonlyMap<string, number> = new Map(Object.entries({ Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }));
// No part can give characters to the next one, so that a text that does not match is refused in linear time.
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const LEADING_ZEROS = /^0+/;

/** Kubernetes counts whole units in 64 bits, so no machine has more of anything. */
const MAX_UNITS = 2n ** 63n - 1n;
const MAX_MILLI = Number(MAX_UNITS * 1000n);
/** Decimal places of the milli-unit. */
const MILLI_PLACES = 3;
/** From so many digits before the point on, an amount in milli-units is more than MAX_MILLI. */
const MAX_DIGITS = 40;

/**
 * Milli-units of a quantity; a number is taken as plain units. It reads what Kubernetes reads, and refuses what
 * Kubernetes refuses with RangeError. More than 2^63 - 1 units, as in "1e9999", count as 2^63 - 1 units, so that sums
 * stay finite. The time is linear in the length of the text.
 */
export function parseQuantity(quantity: string | number): number {
  const parsed = typeof quantity === "number" && Number.isSafeInteger(quantity) ? capped(quantity * 1000) : milliOf(String(quantity));
  if (parsed !== undefined) return parsed;
  const shown = String(quantity).slice(0, MAX_DIGITS);
  throw new RangeError(`quantity "${shown}" is not valid: write a number with an optional suffix, as in "500m", "2" or "1.5Gi"`);
}

const capped = (milli: number): number => Math.max(-MAX_MILLI, Math.min(MAX_MILLI, milli));

function milliOf(text: string): number | undefined {
  const match = text === "" ? null : QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const magnitude = magnitudeOf(whole, fraction, suffix);
  return sign === "-" && magnitude ? -magnitude : magnitude;
}

function magnitudeOf(whole: string, fraction: string, suffix: string): number | undefined {
  const bits = BINARY_EXPONENT.get(suffix);
  const integer = fraction === "" && whole !== "" && whole.length <= 15 ? Number(whole) : undefined;
  if (integer !== undefined && bits !== undefined) return capped(integer * 2 ** bits * 1000);
  const exponent = bits === undefined ? (DECIMAL_EXPONENT.get(suffix) ?? int32Of(suffix.slice(1))) : 0;
  if (exponent === undefined) return undefined;
  if (integer !== undefined && exponent >= -MILLI_PLACES && exponent <= 18) return capped(integer * 10 ** (exponent + MILLI_PLACES));
  // Without any digit, Kubernetes reads 0 where it needs no big number, and nothing otherwise.
  if (whole === "" && fraction === "") return exponent < -9 || (bits ?? 0) >= 50 ? undefined : 0;
  const digits = (whole.replace(LEADING_ZEROS, "") + fraction).replace(LEADING_ZEROS, "");
  return exactMilli(digits, placesOf(whole, fraction, exponent), bits ?? 0);
}

/** The exponent of ten as Kubernetes keeps it: read in 64 bits, cut to 32. Undefined when 64 bits do not hold it. */
function int32Of(text: string): number | undefined {
  const integer = parseInt64(text);
  return integer === undefined ? undefined : Number(BigInt.asIntN(32, integer));
}

/**
 * The exponent of ten of the digits read as an integer. At the ends of 32 bits it wraps as it does in Kubernetes
 * (kubernetes: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, ParseQuantity).
 */
function placesOf(whole: string, fraction: string, exponent: number): number {
  const short = (whole.replace(LEADING_ZEROS, "") || "0").length + fraction.length <= 18;
  const scale = (exponent - fraction.length) | 0;
  return short && scale >= -9 ? scale : -((fraction.length + (-exponent | 0)) | 0);
}

/** `digits × 10^exponent × 2^bits` units in milli-units, rounded up; the digits have no zeros in front. */
function exactMilli(digits: string, exponent: number, bits: number): number {
  if (digits === "") return 0;
  const places = exponent + MILLI_PLACES;
  const leading = digits.length + places;
  if (leading > MAX_DIGITS) return MAX_MILLI;
  if (leading < -MAX_DIGITS) return 1;
  const factor = 1n << BigInt(bits);
  if (places >= 0) return capped(Number(BigInt(digits) * factor * 10n ** BigInt(places)));
  const point = Math.max(0, leading);
  const below = fractionTimes("0".repeat(point - leading) + digits.slice(point), factor);
  return capped(Number(BigInt(digits.slice(0, point)) * factor + below));
}

/** Digits of one step of `fractionTimes`. */
const STEP = 15;
const STEP_BASE = 10n ** BigInt(STEP);

/** `0.digits × factor`, rounded up to an integer; long multiplication from the last digit on, in linear time. */
function fractionTimes(digits: string, factor: bigint): bigint {
  let carry = 0n;
  let isExact = true;
  for (let i = Math.ceil(digits.length / STEP) - 1; i >= 0; i--) {
    const product = BigInt(digits.slice(i * STEP, (i + 1) * STEP).padEnd(STEP, "0")) * factor + carry;
    carry = product / STEP_BASE;
    isExact &&= product % STEP_BASE === 0n;
  }
  return isExact ? carry : carry + 1n;
}

const LARGEST_FIRST = [...BINARY_EXPONENT].reverse();

/** Resources that people read in powers of 1024. */
function isBinary(resource: string): boolean {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/**
 * Milli-units as the API prints them: with a binary suffix where the resource is counted in bytes and the number
 * divides ("6903Mi"), else whole ("2") or in thousandths ("1930m").
 */
export function formatQuantity(milli: number, resource = ""): string {
  if (milli % 1000 !== 0) return `${integerText(milli)}m`;
  const units = milli / 1000;
  if (!isBinary(resource) || units === 0) return integerText(units);
  for (const [suffix, bits] of LARGEST_FIRST) if (units % 2 ** bits === 0) return `${integerText(units / 2 ** bits)}${suffix}`;
  return integerText(units);
}

/** Without an exponent, which JavaScript writes from 1e21 on, and which a suffix cannot follow. */
const integerText = (n: number): string => (Math.abs(n) < 1e21 ? String(n) : String(BigInt(n)));

/** Parses every quantity of a list. Throws RangeError that names the resource of an invalid quantity. */
export function parseResources(list: ResourceList | undefined): Resources {
  const parsed: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(list ?? {})) parsed[name] = parseAmount(name, quantity);
  return parsed;
}

/** Milli-units of a resource. Throws RangeError that names the resource when the quantity is invalid. */
export function parseAmount(name: string, quantity: string | number): number {
  try {
    return parseQuantity(quantity);
  } catch (error) {
    throw new RangeError(`resource ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What is wrong with the first quantity that cannot be read; undefined when `parseResources` reads them all. */
export function resourcesProblem(list: ResourceList | undefined): string | undefined {
  return amountProblem(() => parseResources(list));
}

/** Why a reading of amounts fails: the message of its RangeError; undefined when it succeeds. */
export function amountProblem(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Quantities as manifests write them, by resource name. */
export function formatResources(resources: Resources): Record<string, string> {
  const names = Object.keys(resources).sort();
  return Object.fromEntries(names.map((name) => [name, formatQuantity(resources[name] ?? 0, name)]));
}

/** Sum by resource. */
export function addResources(...lists: readonly Resources[]): Resources {
  const sum: Record<string, number> = {};
  for (const list of lists) for (const name in list) sum[name] = (ownValue(sum, name) ?? 0) + (list[name] ?? 0);
  return sum;
}

/** `a − b` for the resources of `a` and `b`; results may be negative. */
export function subtractResources(a: Resources, b: Resources): Resources {
  const rest: Record<string, number> = { ...a };
  for (const name in b) rest[name] = (ownValue(rest, name) ?? 0) - (b[name] ?? 0);
  return rest;
}

/** Larger of the two by resource. */
export function maxResources(...lists: readonly Resources[]): Resources {
  const most: Record<string, number> = {};
  for (const list of lists) for (const name in list) most[name] = Math.max(ownValue(most, name) ?? 0, list[name] ?? 0);
  return most;
}

/**
 * Whether all requests fit. A negative available quantity admits nothing; a missing resource counts as 0
 * (karpenter: pkg/utils/resources/resources.go, Fits).
 */
export function fits(requests: Resources, available: Resources): boolean {
  for (const name in available) if ((available[name] ?? 0) < 0) return false;
  for (const name in requests) if ((requests[name] ?? 0) > (ownValue(available, name) ?? 0)) return false;
  return true;
}
