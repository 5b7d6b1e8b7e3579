import type { FakeCatalogue } from "./catalogue.ts";
import { AwsError } from "./errors.ts";

/** USD per hour by type, and for spot by type and zone. */
export type Prices = { readonly onDemand: Map<string, number>; readonly spot: Map<string, Map<string, number>> };

export type PriceChange = {
  readonly instanceType: string;
  /** The zone of the spot price; when absent, the on-demand price changes. */
  readonly zone?: string;
  /** USD per hour; 0 removes the price. */
  readonly price: number;
};

export function pricesOf({ onDemandPrices, spotPrices }: FakeCatalogue): Prices {
  const byZone = Object.entries(spotPrices).map(([type, prices]) => [type, new Map(Object.entries(prices))] as const);
  return { onDemand: new Map(Object.entries(onDemandPrices)), spot: new Map(byZone) };
}

/**
 * Changes a price for later launches and answers. Throws when the type has no such price, or when the new price is
 * negative or not a number.
 */
export function changePrice({ onDemand, spot }: Prices, { instanceType, zone, price }: PriceChange): void {
  const [prices, key] = zone === undefined ? [onDemand, instanceType] : [spot.get(instanceType), zone];
  if (!prices?.has(key)) {
    throw new AwsError("BadOrder", `There is no ${zone === undefined ? "on-demand price" : `spot price in ${zone}`} of ${instanceType}.`);
  }
  if (!(price >= 0)) throw new AwsError("BadOrder", `The price of ${instanceType} must be a number of 0 or more.`);
  if (price > 0) prices.set(key, price);
  else prices.delete(key);
}
