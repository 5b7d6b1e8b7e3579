import { nodePrice } from "../../disruption/prices/price.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "../../model/labels.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { nodeViews } from "../../scheduling/problem/node-view.ts";

/** Nodes of one NodePool, instance type and capacity type. */
export interface BillRow {
  readonly nodePool: string;
  /** Empty for a NodeClaim that is not launched yet. */
  readonly instanceType: string;
  readonly capacityType: string;
  readonly nodes: number;
  /** USD per hour of all of them. */
  readonly pricePerHour: number;
}

/** The nodes of a cluster and their price. Nodes without a NodePool are not managed and are left out. */
export interface Bill {
  /** Sorted by NodePool, instance type and capacity type. */
  readonly rows: readonly BillRow[];
  readonly nodes: number;
  /** USD per hour. */
  readonly pricePerHour: number;
  /** Names of nodes whose price is unknown, because their NodePool does not have their offering. */
  readonly unpriced: readonly string[];
}

/** The bill of a snapshot, at the prices of the offerings of its NodePools. */
export function billOf(snapshot: Snapshot): Bill {
  const rows = new Map<string, BillRow>();
  const unpriced: string[] = [];
  for (const { name, nodePool, labels } of nodeViews(snapshot)) {
    if (nodePool === undefined) continue;
    const price = nodePrice(labels, snapshot.instanceTypes.get(nodePool) ?? []);
    const instanceType = labels[INSTANCE_TYPE] ?? "";
    const capacityType = labels[CAPACITY_TYPE] ?? "";
    if (price === 0) unpriced.push(name);
    const key = [nodePool, instanceType, capacityType].join(" ");
    const row = rows.get(key) ?? { nodePool, instanceType, capacityType, nodes: 0, pricePerHour: 0 };
    rows.set(key, { ...row, nodes: row.nodes + 1, pricePerHour: row.pricePerHour + price });
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return {
    rows: sorted,
    nodes: sorted.reduce((sum, { nodes }) => sum + nodes, 0),
    pricePerHour: sorted.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
    unpriced,
  };
}
