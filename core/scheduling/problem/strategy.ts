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
