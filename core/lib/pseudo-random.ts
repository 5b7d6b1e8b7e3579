import { fnv1a32 } from "./fnv.ts";

/** A number that looks like chance, from a seed and a text; the same on every machine. */
export function mixed(seed: number, text: string): number {
  const hash = fnv1a32(text, seed);
  // High bits of FNV are the good ones.
  return (hash ^ (hash >>> 15)) >>> 0;
}
