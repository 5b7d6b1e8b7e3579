/**
 * How one attempt decides where several decisions are valid. Every strategy gives a valid plan; the plans differ in
 * price, so search.ts tries several. Karpenter's own strategy is
 * `{ claims: "fewest-pods", seed: 0, isKarpenters: true }`.
 */
export interface Strategy {
  /**
   * Which planned claim takes a pod:
   * - "fewest-pods": the claim with the fewest pods, as in Karpenter; fills claims evenly.
   * - "oldest": the oldest claim (first fit).
   * - "least-added-price": the claim whose price the pod raises least, or a new claim if that is cheaper.
   * - "packed": the node that packing proposes for the pod; pods that it leaves go by "least-added-price".
   */
  readonly claims: "fewest-pods" | "oldest" | "least-added-price" | "packed";
  /**
   * Whether pools and limits are used as in Karpenter: a pod joins a planned claim of any pool before a new one is
   * opened, pools of one weight are tried by name, and a claim is charged for its largest type. Pods that are left then
   * are tried once more in our way.
   */
  readonly isKarpenters?: boolean;
  /** Class indexes in the order of placing. Default: the order of the queue. */
  readonly classes?: readonly number[];
  /**
   * Order of equally good topology domains: 0 for the cheapest first; positive for a pseudo-random order, another one
   * for each claim; negative for one pseudo-random order for all claims.
   */
  readonly seed: number;
  /**
   * Whether hard spreads of pods with OR-ed terms of node affinity count the domains only that have a node, as
   * kube-scheduler does; otherwise also those that new nodes could have. For pods that fit nowhere otherwise: Karpenter
   * places some of them, because it counts again with each term.
   */
  readonly countsOpenDomains?: boolean;
  /**
   * Whether pods that fit nowhere are tried once more, in a last pass in which their hard spreads leave out the domains
   * that no pool can ever have a node in which the pods may run. kube-scheduler never counts those. Karpenter does, and
   * leaves pods whose pool or instance family has fewer zones or architectures than others.
   */
  readonly leavesOutImpossible?: boolean;
}
