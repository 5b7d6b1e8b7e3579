/**
 * The patterns of `price` and `priceAdjustment`; the CRD has the same ones. They exclude a reduction of more than 100
 * %.
 */
export const PRICE = /^\d+(\.\d+)?$/;
export const PRICE_ADJUSTMENT = /^([+-]\d*\.?\d+|\+\d*\.?\d+%|-\d{1,2}(\.\d+)?%|-100%)$/;

/** The field that a spec sets; at most one. */
interface PriceChange {
  readonly price?: string;
  readonly priceAdjustment?: string;
}

/** USD per hour after a change, at least 0. Without a change the price stays. */
export function changedPrice(pricePerHour: number, { price, priceAdjustment }: PriceChange): number {
  if (price !== undefined) return Number(price);
  if (priceAdjustment === undefined) return pricePerHour;
  const changed = priceAdjustment.endsWith("%")
    ? pricePerHour * (1 + Number(priceAdjustment.slice(0, -1)) / 100)
    : pricePerHour + Number(priceAdjustment);
  return Math.max(0, changed);
}
