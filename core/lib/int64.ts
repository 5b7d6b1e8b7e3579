/** The largest 64-bit integer with a sign. */
export const MAX_INT64 = 2n ** 63n - 1n;

const INTEGER = /^([+-]?)(\d+)$/;
const LEADING_ZEROS = /^0+(?=\d)/;
const MAX_DIGITS = String(MAX_INT64).length;

/**
 * The integer that Go's strconv.ParseInt reads from a text in base 10; undefined where it refuses the text, as it does
 * an integer that 64 bits do not hold. The time is linear in the length of the text.
 */
export function parseInt64(text: string): bigint | undefined {
  const [, sign, written = ""] = INTEGER.exec(text) ?? [];
  const digits = written.replace(LEADING_ZEROS, "");
  if (digits === "" || digits.length > MAX_DIGITS) return undefined;
  const magnitude = BigInt(digits);
  if (sign === "-") return magnitude <= MAX_INT64 + 1n ? -magnitude : undefined;
  return magnitude <= MAX_INT64 ? magnitude : undefined;
}
