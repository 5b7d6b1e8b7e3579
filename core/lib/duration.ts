const UNIT_NS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const NS_PER_MS = 1e6;

const TERM = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
/** Digits of the largest duration in nanoseconds. */
const MAX_DIGITS = 19;
const LEADING_ZEROS = /^0+/;
const MAX_NS = 2n ** 63n;

/**
 * Milliseconds of a Go duration ("1h30m", "0s", "-1.5s", "0"); undefined when Go's time.ParseDuration refuses the text,
 * as it does a duration of 293 years, which 64 bits of nanoseconds do not hold.
 */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0;
  if (body === "") return undefined;
  let total = 0n;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < body.length) {
    const ns = termNs(TERM.exec(body));
    if (ns === undefined) return undefined;
    total += ns;
    if (total > MAX_NS) return undefined;
  }
  if (total === MAX_NS && !negative) return undefined;
  return (negative && total > 0n ? -Number(total) : Number(total)) / NS_PER_MS;
}

function termNs(term: RegExpExecArray | null): bigint | undefined {
  const [, whole = "", fraction = "", unit = ""] = term ?? [];
  const size = UNIT_NS.get(unit);
  if (size === undefined || whole + fraction === "") return undefined;
  const digits = whole.replace(LEADING_ZEROS, "");
  if (digits.length > MAX_DIGITS) return undefined;
  return BigInt(digits) * size + fractionNs(fraction, size);
}

/** Go computes the fraction in floating point, from as many digits as 63 bits hold. */
function fractionNs(fraction: string, size: bigint): bigint {
  let read = 0n;
  let scale = 1;
  for (const digit of fraction) {
    const next = read * 10n + BigInt(digit);
    if (next > MAX_NS) break;
    read = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(read) * (Number(size) / scale)));
}

/** parseDuration for fields that also take "Never", which is Infinity. */
export function parseDurationOrNever(text: string): number | undefined {
  return text === "Never" ? Number.POSITIVE_INFINITY : parseDuration(text);
}

const STEPS: readonly (readonly [unit: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** A time span in its two largest units: "2h 12m", "31s". */
export function span(ms: number): string {
  let left = Math.max(Math.round(ms / 1_000) * 1_000, 0);
  const parts: string[] = [];
  for (const [unit, size] of STEPS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0s" : parts.join(" ");
}
