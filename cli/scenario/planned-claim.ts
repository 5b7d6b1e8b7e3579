import type { PlannedNodeClaim } from "#core/model/plan.ts";

/** A planned NodeClaim in the output of the command line (docs/scenario-format.md). */
export type WrittenClaim = Pick<
  PlannedNodeClaim,
  "nodePool" | "requirements" | "taints" | "instanceTypes" | "requests" | "pods" | "paidFor"
>;

/** The fields of a planned NodeClaim that the output has. */
export function writtenClaim({ nodePool, requirements, taints, instanceTypes, requests, pods, paidFor }: PlannedNodeClaim): WrittenClaim {
  return { nodePool, requirements, taints, instanceTypes, requests, pods, ...(paidFor !== undefined && { paidFor }) };
}
