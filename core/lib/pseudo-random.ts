import { fnv1a32 } from "./fnv.ts";

/** A pseudo-random number from a seed and a text; equal on every machine. */
export function mixed(seed: number, text: string): number {
  const hash = fnv1a32(text, seed);
  // The high bits of FNV are the well distributed ones.
  return (hash ^ (hash >>> 15)) >>> 0;
}
