// Prices and price tolerances that bin packing and consolidation share, all in USD per hour.
// Prices of instances come from offerings (instance-type.ts), prices of nodes from core/disruption/prices, and what a
// node costs beside its instance from core/offerings/node-cost.ts.

/** How a burstable type (T2, T3, T3a, T4g) is valued: with the surplus credits of its requests, or at its price. */
type BurstablePrice = "surplus" | "list";

/** What an operator says a node costs beside its instance; docs/settings.md names the environment variables. */
export interface CostSettings {
  /** USD per hour of each node: agents, licences, addresses, upgrades. DEFAULT_NODE_OVERHEAD_PRICE unless set. */
  readonly nodeOverheadPrice?: number;
  /** "surplus" unless set. */
  readonly burstablePrice?: BurstablePrice;
}

/** The cost settings among others. */
export function costSettingsOf({ nodeOverheadPrice, burstablePrice }: CostSettings): CostSettings {
  return { ...(nodeOverheadPrice !== undefined && { nodeOverheadPrice }), ...(burstablePrice !== undefined && { burstablePrice }) };
}

/**
 * What each node counts beside its instance and its volumes, USD per hour: docs/decisions/0018-what-a-node-costs.md
 * has the curve that it was taken from.
 */
export const DEFAULT_NODE_OVERHEAD_PRICE = 0.02;

/**
 * What each node counts in any case, USD per hour, so that of plans with equal cost the one with fewer nodes is chosen
 * even at an overhead of 0. It exceeds the least gain of ruin and recreate, and no price is that small.
 */
export const NODE_TIE_PRICE = 2e-6;

/** Two prices that differ by less than this are equal (USD per hour): sums of floats differ in their last digits. */
export const PRICE_TOLERANCE = 1e-9;

/**
 * Savings below this count as none (USD per hour): AWS states prices to a hundredth of a cent or finer. Without it,
 * nodes of one price could replace each other for ever, because sums of floats differ in their last digits.
 */
export const MIN_SAVINGS = 1e-6;

/** A price in USD per hour as text: "$0.0960/h". */
export function perHour(usd: number): string {
  return `$${usd.toFixed(4)}/h`;
}

/** Dollars as whole millionths, rounded up, so that sums of prices are exact. */
export function micros(usd: number): number {
  return Math.ceil(usd * 1e6 - 1e-3);
}

/** Hours of a month, as in AWS's price lists. */
export const HOURS_A_MONTH = 730;
