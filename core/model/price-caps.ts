import type { PriceCap } from "./snapshot.ts";

/** USD per hour by cluster; under EACH for a cluster that is not named. */
export type CapsByCluster = Readonly<Record<string, number>>;

/** No cluster's name has this character. */
export const EACH = "*";

/**
 * A cluster's own cap, or that of the stack, whichever leaves less; undefined when neither is set.
 * @param elsewhere what the nodes of the stack's other clusters cost, USD per hour
 */
export function priceCapOf(
  cluster: string,
  caps: { readonly maxPricePerHour: CapsByCluster; readonly stackMaxPricePerHour: number | undefined },
  elsewhere: number,
): PriceCap | undefined {
  const byName = new Map(Object.entries(caps.maxPricePerHour));
  const own = byName.get(cluster) ?? byName.get(EACH);
  const { stackMaxPricePerHour: stack } = caps;
  if (own !== undefined && (stack === undefined || own <= stack - elsewhere)) return { of: "cluster", perHour: own, elsewhere: 0 };
  return stack === undefined ? undefined : { of: "stack", perHour: stack, elsewhere };
}
