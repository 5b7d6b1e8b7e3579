/** What an instance is billed: its price, and the surplus credits of a burstable one for the requests of its pods. */
export interface BilledNode {
  readonly pricePerHour: number;
  readonly surplusPerHour?: number;
}

/** USD per hour saved by replacing the candidates; negative for a loss. */
export function savingsOf(candidates: readonly BilledNode[], replacements: readonly BilledNode[]): number {
  return totalPrice(candidates) - totalPrice(replacements);
}

/** USD per hour of the instances of all these nodes. */
export function totalPrice(nodes: readonly BilledNode[]): number {
  return nodes.reduce((sum, node) => sum + billedPrice(node), 0);
}

/** USD per hour of one instance. */
export function billedPrice({ pricePerHour, surplusPerHour = 0 }: BilledNode): number {
  return pricePerHour + surplusPerHour;
}
