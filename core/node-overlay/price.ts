/** What `price` and `priceAdjustment` may hold; the CRD has the same patterns. A cut of more than 100 % is none of them. */
export const PRICE = /^\d+(\.\d+)?$/;
export const PRICE_ADJUSTMENT = /^([+-]\d*\.?\d+|\+\d*\.?\d+%|-\d{1,2}(\.\d+)?%|-100%)$/;

/** Which of the two a spec gives. */
export interface PriceChange {
  readonly price?: string;
  readonly priceAdjustment?: string;
}

/** USD per hour after a change, never below 0. Without a change the price stays. */
export function changedPrice(pricePerHour: number, { price, priceAdjustment }: PriceChange): number {
  if (price !== undefined) return Number(price);
  if (priceAdjustment === undefined) return pricePerHour;
  const changed = priceAdjustment.endsWith("%")
    ? pricePerHour * (1 + Number(priceAdjustment.slice(0, -1)) / 100)
    : pricePerHour + Number(priceAdjustment);
  return Math.max(0, changed);
}
