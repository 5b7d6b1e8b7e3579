import type { PlannedNodeClaim } from "../../core/model/plan.ts";

/** A machine to buy, as FORMAT.md writes it. */
export type WrittenClaim = Pick<PlannedNodeClaim, "nodePool" | "requirements" | "taints" | "instanceTypes" | "requests" | "pods">;

/** What FORMAT.md tells of a machine to buy. */
export function writtenClaim({ nodePool, requirements, taints, instanceTypes, requests, pods }: PlannedNodeClaim): WrittenClaim {
  return { nodePool, requirements, taints, instanceTypes, requests, pods };
}
