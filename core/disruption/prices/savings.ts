/** USD per hour saved by replacing the candidates; negative for a loss. */
export function savingsOf(
  candidates: readonly { readonly pricePerHour: number }[],
  replacements: readonly { readonly pricePerHour: number }[],
): number {
  return totalPrice(candidates) - totalPrice(replacements);
}

/** USD per hour of all these nodes. */
export function totalPrice(nodes: readonly { readonly pricePerHour: number }[]): number {
  return nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}
