import { ownValue } from "../lib/own-value.ts";
import type { ResourceList } from "./kubernetes.ts";

/**
 * Kubernetes quantities as numbers in **milli-units** of the resource ("1930m" cpu is 1930, "1Ki" is 1 024 000).
 * One scale for every resource keeps sums and comparisons in integers, which binary floating point adds without error
 * up to 2^53; whole units are multiples of 8, so byte counts stay exact up to 64 TiB a number. Anything finer than a
 * thousandth is rounded away from zero, as the API server does.
 */
export type Resources = Readonly<Record<string, number>>;

const SUFFIX_EXPONENT: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIX: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };
const QUANTITY = /^([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3}|Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?)$/;

/** Milli-units of a quantity; a number is taken as plain units. Throws RangeError for text that is no quantity. */
export function parseQuantity(quantity: string | number): number {
  if (typeof quantity === "number") {
    if (Number.isFinite(quantity)) return Math.ceil(quantity * 1000);
    throw new RangeError(`quantity ${quantity} is not a finite number`);
  }
  const match = QUANTITY.exec(quantity);
  if (match === null) {
    throw new RangeError(`quantity "${quantity}" is not valid: write a number with an optional suffix, as in "500m", "2" or "1.5Gi"`);
  }
  const [, sign, digits = "", suffix = ""] = match;
  const binary = BINARY_SUFFIX[suffix];
  const integer = Number(digits);
  const magnitude =
    binary !== undefined && Number.isSafeInteger(integer)
      ? integer * binary * 1000
      : suffix === "" && Number.isSafeInteger(integer)
        ? integer * 1000
        : exactMilli(digits, suffix);
  return sign === "-" && magnitude !== 0 ? -magnitude : magnitude;
}

/** The slow path: decimals and decimal exponents in BigInt, rounded up to a whole milli-unit. */
function exactMilli(digits: string, suffix: string): number {
  const [whole = "", fraction = ""] = digits.split(".");
  const binary = BINARY_SUFFIX[suffix];
  const exponent = (binary === undefined ? (SUFFIX_EXPONENT[suffix] ?? Number(suffix.slice(1))) : 0) + 3 - fraction.length;
  const scaled = BigInt(whole + fraction || "0") * BigInt(binary ?? 1);
  if (exponent >= 0) return Number(scaled * 10n ** BigInt(exponent));
  const divisor = 10n ** BigInt(-exponent);
  return Number((scaled + divisor - 1n) / divisor);
}

/** Resources that people read in powers of 1024. */
function isBinary(resource: string): boolean {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/**
 * Milli-units as the API prints them: with a binary suffix where the resource is counted in bytes and the number
 * divides ("6903Mi"), else whole ("2") or in thousandths ("1930m").
 */
export function formatQuantity(milli: number, resource = ""): string {
  if (milli % 1000 !== 0) return `${milli}m`;
  const units = milli / 1000;
  if (!isBinary(resource) || units === 0) return String(units);
  for (const suffix of ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"]) {
    const size = BINARY_SUFFIX[suffix] ?? 1;
    if (units % size === 0) return `${units / size}${suffix}`;
  }
  return String(units);
}

/** Parses every quantity of a list. Throws RangeError that names the resource of an invalid quantity. */
export function parseResources(list: ResourceList | undefined): Resources {
  const parsed: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(list ?? {})) {
    try {
      parsed[name] = parseQuantity(quantity);
    } catch (error) {
      throw new RangeError(`resource ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return parsed;
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
