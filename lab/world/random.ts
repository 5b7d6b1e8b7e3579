/** A seeded source of random numbers: the same seed gives the same world. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [from, to]. */
  between(from: number, to: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Lower-case hex digits. */
  hex(length: number): string;
  /** A suffix as Kubernetes appends it for generateName. */
  suffix(length: number): string;
  /** Shaped like a version 4 UUID. */
  uuid(): string;
  /** An independent source, so that one part that draws more often does not change the draws of the others. */
  fork(name: string): Random;
}

// Kubernetes leaves out vowels and 0, 1, 3, so that names spell no words.
const SUFFIX = "bcdfghjklmnpqrstvwxz2456789";

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state are enough for choosing delays. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const from = (alphabet: string, length: number): string => {
    let text = "";
    for (let i = 0; i < length; i++) text += alphabet[Math.floor(next() * alphabet.length)] ?? "";
    return text;
  };
  const hex = (length: number): string => from("0123456789abcdef", length);
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    hex,
    suffix: (length) => from(SUFFIX, length),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${from("89ab", 1)}${hex(3)}-${hex(12)}`,
    // A product with an odd number: no two seeds have the same forks.
    fork: (name) => seeded((hash(name) ^ Math.imul(seed, 0x9e3779b1)) >>> 0),
  };
}

/** FNV-1a, 32 bits: for seeds and template hashes, not for security. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
