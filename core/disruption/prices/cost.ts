import type { InstanceType } from "../../model/instance-type.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { CostSettings } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { nodeCost } from "../../offerings/node-cost.ts";
import { type BilledNode, billedPrice } from "./savings.ts";

/** A node with what it costs its owner beside its instance. */
export interface CostedNode extends BilledNode {
  /** Volumes and overhead, USD per hour. */
  readonly nodeCost: number;
}

/** What some nodes cost their owner, USD per hour. */
export function totalCost(nodes: readonly CostedNode[]): number {
  return nodes.reduce((sum, node) => sum + billedPrice(node) + node.nodeCost, 0);
}

/** Planned NodeClaims with what their nodes will cost; the volumes are those of the cheapest type. */
export function costed(planned: readonly PlannedNodeClaim[], snapshot: Snapshot, costs: CostSettings): readonly CostedNode[] {
  return planned.map(({ nodePool, instanceTypes, pricePerHour, surplusPerHour = 0 }) => {
    const types: readonly InstanceType[] = snapshot.instanceTypes.get(nodePool) ?? [];
    const type = types.find(({ name }) => name === instanceTypes[0]);
    return { pricePerHour, surplusPerHour, nodeCost: nodeCost(type, costs) };
  });
}
