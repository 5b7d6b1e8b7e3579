import type { InstanceType } from "../model/instance-type.ts";
import { type CostSettings, DEFAULT_NODE_OVERHEAD_PRICE, NODE_TIE_PRICE } from "../model/prices.ts";
import { burstOf } from "./burstable.ts";

/** What each node of a type costs beside its instance, whatever runs there, USD per hour: overhead and volumes. */
export function nodeCost(
  type: Pick<InstanceType, "volumePrice"> | undefined,
  { nodeOverheadPrice = DEFAULT_NODE_OVERHEAD_PRICE }: CostSettings,
): number {
  return nodeOverheadPrice + (type?.volumePrice ?? 0) + NODE_TIE_PRICE;
}

/**
 * Surplus credits of a node whose pods, daemons included, request so much cpu (milli-units) and use it, USD per hour: 0
 * for a type that is not burstable, and up to the baseline of one that is.
 */
export function surplusPrice(type: InstanceType | undefined, cpu: number, { burstablePrice = "surplus" }: CostSettings): number {
  const burst = type === undefined || burstablePrice === "list" ? undefined : burstOf(type);
  return burst === undefined ? 0 : (burst.price * Math.max(0, cpu - burst.baseline)) / 1000;
}
