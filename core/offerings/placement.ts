import { PLACEMENT_GROUP_ID, PLACEMENT_GROUP_PARTITION } from "../model/labels.ts";
import type { ResolvedPlacementGroup } from "../model/node-class.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";

/**
 * Labels that a node gets from the placement group of its NodeClass: none without a group; a partition when the group
 * has partitions.
 */
export function placementRequirements(group: ResolvedPlacementGroup | undefined): readonly NodeSelectorRequirementWithMinValues[] {
  if (group === undefined) return [];
  const partitions = Array.from({ length: group.partitionCount ?? 0 }, (_, i) => String(i + 1));
  return [
    { key: PLACEMENT_GROUP_ID, operator: "In", values: [group.id] },
    ...(partitions.length > 0 ? [{ key: PLACEMENT_GROUP_PARTITION, operator: "In" as const, values: partitions }] : []),
  ];
}
