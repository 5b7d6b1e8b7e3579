import type { InstanceFields, MachineFields } from "../announcements/log-events.ts";
import { providerIdOf } from "../model/instance.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * The fields of a log line that name the NodePool of a NodeClaim and its instance, as far as the NodeClaim has them.
 */
export function machineFields({ nodePool, instance }: Pick<NodeClaimRecord, "nodePool" | "instance">): MachineFields {
  return {
    ...(nodePool !== undefined && { NodePool: { name: nodePool } }),
    ...(instance !== undefined &&
      ({
        "provider-id": providerIdOf(instance),
        "instance-type": instance.instanceType,
        zone: instance.zone,
        "capacity-type": instance.capacityType,
      } satisfies InstanceFields)),
  };
}
