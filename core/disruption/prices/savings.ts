/** USD per hour that are no longer paid. */
export function savingsOf(
  candidates: readonly { readonly pricePerHour: number }[],
  replacements: readonly { readonly pricePerHour: number }[],
): number {
  return totalPrice(candidates) - totalPrice(replacements);
}

/** USD per hour that some nodes cost. */
export function totalPrice(nodes: readonly { readonly pricePerHour: number }[]): number {
  return nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}
