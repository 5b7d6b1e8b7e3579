/** How one attempt decides where several ways are open. Any strategy gives a valid plan; they differ in price. */
export interface Strategy {
  /**
   * Among planned claims: the one with the fewest pods (Karpenter's way, which packs evenly), the oldest (first fit), or the one that
   * grows dearer by least, a new claim included ("least-rise"). "recipes": machines are made up beforehand for all pods together, and filled; what is
   * left over goes where the rise is least.
   */
  readonly claims: "fewest-pods" | "oldest" | "least-rise" | "recipes";
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

/** A number from a seed and a text, the same on every machine (FNV-1a). */
export function mixed(seed: number, text: string): number {
  let h = 2166136261 ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}
