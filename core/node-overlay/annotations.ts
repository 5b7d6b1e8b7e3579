import type { InstanceType } from "../model/instance-type.ts";

/** On a claim whose instance types cost what a NodeOverlay says: its launch goes by those prices. */
export const PRICE_OVERLAY_APPLIED = "karpenter.sh/price-overlay-applied";
/** On a claim whose instance types have resources that a NodeOverlay promises. */
export const CAPACITY_OVERLAY_APPLIED = "karpenter.sh/capacity-overlay-applied";

/** The annotations of a claim that may be launched as any of `names` out of what its pool can buy. */
export function overlayAnnotations(types: readonly InstanceType[], names: readonly string[]): Readonly<Record<string, string>> {
  const wanted = new Set(names);
  const chosen = types.filter(({ name }) => wanted.has(name));
  return {
    ...(chosen.some(({ offerings }) => offerings.some(({ priceOverlaid }) => priceOverlaid)) && { [PRICE_OVERLAY_APPLIED]: "true" }),
    ...(chosen.some(({ capacityOverlaid }) => capacityOverlaid) && { [CAPACITY_OVERLAY_APPLIED]: "true" }),
  };
}
