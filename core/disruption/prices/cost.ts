import type { InstanceType } from "../../model/instance-type.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { CostSettings } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { nodeCost } from "../../offerings/node-cost.ts";

/** What a node costs its owner, in parts, USD per hour. */
export interface CostedNode {
  /** Price of the instance. */
  readonly pricePerHour: number;
  /** Surplus credits of a burstable instance for the requests of its pods. */
  readonly surplusPerHour: number;
  /** Volumes and overhead. */
  readonly nodeCost: number;
}

/** What some nodes cost their owner, USD per hour. */
export function totalCost(nodes: readonly CostedNode[]): number {
  return nodes.reduce((sum, { pricePerHour, surplusPerHour, nodeCost: own }) => sum + pricePerHour + surplusPerHour + own, 0);
}

/** Planned NodeClaims with what their nodes will cost, each as its cheapest type. */
export function costed(planned: readonly PlannedNodeClaim[], snapshot: Snapshot, costs: CostSettings): readonly CostedNode[] {
  return planned.map(({ nodePool, instanceTypes, pricePerHour, surplusPerHour = 0 }) => {
    const types: readonly InstanceType[] = snapshot.instanceTypes.get(nodePool) ?? [];
    const type = types.find(({ name }) => name === instanceTypes[0]);
    return { pricePerHour, surplusPerHour, nodeCost: nodeCost(type, costs) };
  });
}
