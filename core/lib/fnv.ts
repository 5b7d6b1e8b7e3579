/**
 * FNV hashes, 64 bits wide over bytes unless the name says otherwise. They name equal contents equally; they do not
 * protect secrets.
 */

/** The offset basis 0xcbf29ce484222325 in two halves. */
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
/** The prime is 2⁴⁰ + 435. */
const PRIME_LOW = 435;
const TWO_32 = 4_294_967_296;

/** FNV-1: multiply, then xor. */
export function fnv1(bytes: readonly number[]): bigint {
  let [high, low] = [OFFSET_HIGH, OFFSET_LOW];
  for (let i = 0; i < bytes.length; i++) {
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / TWO_32) + low * 256) >>> 0;
    low = (product ^ (bytes[i] as number)) >>> 0;
  }
  return joined(high, low);
}

/** FNV-1a: xor, then multiply. It distributes short inputs better than FNV-1. */
export function fnv1a(bytes: readonly number[]): bigint {
  let [high, low] = [OFFSET_HIGH, OFFSET_LOW];
  for (let i = 0; i < bytes.length; i++) {
    low = (low ^ (bytes[i] as number)) >>> 0;
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / TWO_32) + low * 256) >>> 0;
    low = product >>> 0;
  }
  return joined(high, low);
}

// Halves of 32 bits: BigInt takes ten times as long for each byte.
const joined = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low);

/** FNV-1a over UTF-16 units, 32 bits wide: for short texts within one cluster. Another seed gives other numbers. */
export function fnv1a32(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** The eight bytes of a 64-bit number, lowest first. */
export function littleEndian(value: bigint): readonly number[] {
  return [0n, 8n, 16n, 24n, 32n, 40n, 48n, 56n].map((shift) => Number((value >> shift) & 0xffn));
}

/** Replaces half of a surrogate pair, as in all encoders. */
const REPLACEMENT = 0xfffd;

/**
 * UTF-8 bytes without TextEncoder, because the core uses no platform API. Half of a surrogate pair, which a text that
 * was cut off may end with, becomes U+FFFD.
 */
export function utf8(text: string): readonly number[] {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      bytes.push(code);
      continue;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      code = text.codePointAt(i) as number;
      if (code > 0xffff) i++;
      else code = REPLACEMENT;
    }
    if (code < 0x800) bytes.push(0xc0 | (code >> 6));
    else {
      if (code < 0x10000) bytes.push(0xe0 | (code >> 12));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f));
      bytes.push(0x80 | ((code >> 6) & 0x3f));
    }
    bytes.push(0x80 | (code & 0x3f));
  }
  return bytes;
}

/**
 * The name of a plain JSON value by its content: FNV-1a/64 over its JSON with sorted keys, 16 hex digits. Undefined
 * fields count as absent. Among n contents two share a name with a probability of about n²/2⁶⁵.
 */
export function contentHash(value: unknown): string {
  return fnv1a(utf8(canonicalJson(value)))
    .toString(16)
    .padStart(16, "0");
}

/** JSON with sorted keys, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(",")}}`;
}
