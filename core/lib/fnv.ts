/**
 * FNV hashes, 64 bits wide over bytes unless the name says otherwise. They name equal contents equally; they do not
 * protect secrets.
 */

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** FNV-1: multiply, then xor. */
export function fnv1(bytes: Iterable<number>): bigint {
  let hash = OFFSET;
  for (const byte of bytes) hash = ((hash * PRIME) & MASK) ^ BigInt(byte);
  return hash;
}

/** FNV-1a: xor, then multiply. It distributes short inputs better than FNV-1. */
export function fnv1a(bytes: Iterable<number>): bigint {
  let hash = OFFSET;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * PRIME) & MASK;
  return hash;
}

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

/** UTF-8 bytes without TextEncoder, because the core uses no platform API. */
export function utf8(text: string): readonly number[] {
  const escaped = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let i = 0; i < escaped.length; i++) {
    if (escaped[i] === "%") {
      bytes.push(Number.parseInt(escaped.slice(i + 1, i + 3), 16));
      i += 2;
    } else bytes.push(escaped.charCodeAt(i));
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
