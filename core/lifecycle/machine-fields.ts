import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/** Log fields that identify a NodePool and an instance; without an instance only the NodePool. */
export function machineFields({ nodePool, instance }: Pick<NodeClaimRecord, "nodePool" | "instance">) {
  return {
    ...(nodePool !== undefined && { NodePool: { name: nodePool } }),
    ...(instance !== undefined && {
      "provider-id": `aws:///${instance.zone}/${instance.id}`,
      "instance-type": instance.instanceType,
      zone: instance.zone,
      "capacity-type": instance.capacityType,
    }),
  };
}
