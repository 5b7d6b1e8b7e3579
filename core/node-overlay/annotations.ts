import type { InstanceType } from "../model/instance-type.ts";

/** On a NodeClaim whose instance types have a price from a NodeOverlay: its launch uses these prices as priorities. */
export const PRICE_OVERLAY_APPLIED = "karpenter.sh/price-overlay-applied";
/** On a NodeClaim whose instance types have resources from a NodeOverlay. */
export const CAPACITY_OVERLAY_APPLIED = "karpenter.sh/capacity-overlay-applied";

/** The annotations of a NodeClaim that may be launched as any of `names`, out of the instance types of its NodePool. */
export function overlayAnnotations(types: readonly InstanceType[], names: readonly string[]): Readonly<Record<string, string>> {
  const wanted = new Set(names);
  const chosen = types.filter(({ name }) => wanted.has(name));
  return {
    ...(chosen.some(({ offerings }) => offerings.some(({ priceOverlaid }) => priceOverlaid)) && { [PRICE_OVERLAY_APPLIED]: "true" }),
    ...(chosen.some(({ capacityOverlaid }) => capacityOverlaid) && { [CAPACITY_OVERLAY_APPLIED]: "true" }),
  };
}
