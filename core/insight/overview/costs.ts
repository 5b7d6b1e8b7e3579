import { nodePrice } from "../../disruption/prices/price.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from "../../model/labels.ts";
import type { Cost } from "./types.ts";

type Labels = Readonly<Record<string, string>>;

export interface NodeCosts {
  /** USD per hour; 0 when unknown. */
  readonly pricePerHour: number;
  /** USD per hour of the same type on demand, in the same zone if it is offered there; the price itself if nowhere. */
  readonly onDemandPerHour: number;
}

/** What a node with these labels costs, and would cost on demand. */
export function nodeCosts(labels: Labels, instanceTypes: readonly InstanceType[]): NodeCosts {
  const pricePerHour = nodePrice(labels, instanceTypes);
  if (labels[CAPACITY_TYPE] === "on-demand") return { pricePerHour, onDemandPerHour: pricePerHour };
  const offerings = instanceTypes.find(({ name }) => name === labels[INSTANCE_TYPE])?.offerings ?? [];
  const onDemand = offerings.filter(({ capacityType, price }) => capacityType === "on-demand" && price > 0);
  const same = onDemand.find(({ zone }) => zone === labels[ZONE]) ?? onDemand[0];
  return { pricePerHour, onDemandPerHour: same?.price ?? pricePerHour };
}

/** The sum over nodes of ours. */
export function sumOfCosts(nodes: readonly NodeCosts[]): Cost {
  return {
    perHour: nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
    onDemandPerHour: nodes.reduce((sum, { onDemandPerHour }) => sum + onDemandPerHour, 0),
    unpriced: nodes.filter(({ pricePerHour }) => pricePerHour === 0).length,
  };
}
