import { fnv1a32 } from "./fnv.ts";

/** A pseudo-random whole number below 2³² from a seed and a text: an FNV-1a hash, the same on every machine. */
export function hashedNumber(seed: number, text: string): number {
  const hash = fnv1a32(text, seed);
  // The high bits of FNV-1a vary most, so they are folded into the low ones.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** A sequence of pseudo-random whole numbers below 2³² from a seed (Marsaglia's xorshift32), the same in every run. */
export function xorshift32(seed: number): () => number {
  let state = (seed + 1) * 2654435761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
