/** USD per hour, by type. */
type Prices = Readonly<Record<string, number>>;

/** A price below this share of the one before is held until it is read twice: one wrong page may move a cluster. */
const MIN_SHARE = 0.2;

/**
 * New prices, without those that fell so far that they may be wrong, which are in `held`: the price before stays in
 * use. What was held before and has not risen is used.
 * @param held what was held when prices were last read
 */
export function withoutFallen(old: Prices, fresh: Prices, held: Prices = {}): { readonly prices: Prices; readonly held: Prices } {
  const isFallen = ([type, price]: readonly [string, number]): boolean =>
    price < (old[type] ?? 0) * MIN_SHARE && !Object.hasOwn(held, type);
  const { fallen = [], used = [] } = Object.groupBy(Object.entries(fresh), (entry) => (isFallen(entry) ? "fallen" : "used"));
  return { prices: Object.fromEntries(used), held: Object.fromEntries(fallen) };
}

/** Spot prices, USD per hour by type and zone. */
type SpotPrices = Readonly<Record<string, Prices>>;

/** The same for spot prices. */
export function withoutFallenSpot(
  old: SpotPrices,
  fresh: SpotPrices,
  held: SpotPrices = {},
): { readonly prices: SpotPrices; readonly held: SpotPrices } {
  const types = Object.entries(fresh).map(([type, prices]) => [type, withoutFallen(old[type] ?? {}, prices, held[type])] as const);
  const isHeld = types.filter(([, one]) => Object.keys(one.held).length > 0);
  return {
    prices: Object.fromEntries(types.map(([type, one]) => [type, one.prices])),
    held: Object.fromEntries(isHeld.map(([type, one]) => [type, one.held])),
  };
}
