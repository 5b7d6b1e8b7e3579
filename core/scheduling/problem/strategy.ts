import { fnv1a32 } from "../../lib/fnv.ts";

/** How one attempt decides where several ways are open. Any strategy gives a valid plan; they differ in price. */
export interface Strategy {
  /**
   * Among planned claims: the one with the fewest pods (Karpenter's way, which packs evenly), the oldest (first fit), or the one that
   * grows dearer by least, a new claim included ("least-rise"). "recipes": machines are made up beforehand for all pods together, and filled; what is
   * left over goes where the rise is least.
   */
  readonly claims: "fewest-pods" | "oldest" | "least-added-price" | "packed";
  /** Class indexes in the order in which they are placed; that of the queue unless given. */
  readonly classes?: readonly number[];
  /** Breaks ties between domains: 0 takes the cheapest, other seeds mix them up. */
  readonly seed: number;
}

/**
 * What a node costs beside its instance, USD per hour: its root volume (20 GiB of gp3 at $0.08 a GiB-month). Without it two small nodes
 * would look as good as one large one at the same price.
 */
export const NODE_HOUR = 0.0022;

/** A number that looks like chance, from a seed and a text; the same on every machine. */
export function mixed(seed: number, text: string): number {
  const hash = fnv1a32(text, seed);
  // High bits of FNV are the good ones.
  return (hash ^ (hash >>> 15)) >>> 0;
}
