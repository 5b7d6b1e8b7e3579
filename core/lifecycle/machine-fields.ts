import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/** Fields that tell, on a log line, whose machine it is about and which one that is; of a claim without a machine only whose. */
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
