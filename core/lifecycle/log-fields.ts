import type { InstanceFields, MachineFields } from "../announcements/log-events.ts";
import { providerIdOf } from "../model/instance.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * The fields of a log line that name the NodePool of a NodeClaim and its instance, as far as the NodeClaim has them.
 */
export function machineFields({ nodePool, instance }: Pick<NodeClaimRecord, "nodePool" | "instance">): MachineFields {
  return {
    ...namedPool(nodePool),
    ...(instance !== undefined &&
      ({
        "provider-id": providerIdOf(instance),
        "instance-type": instance.instanceType,
        zone: instance.zone,
        "capacity-type": instance.capacityType,
      } satisfies InstanceFields)),
  };
}

/** The NodePool as log lines name it: an object in each line, because a log index takes one type under one key. */
export const namedPool = (name: string | undefined): Pick<MachineFields, "NodePool"> => (name === undefined ? {} : { NodePool: { name } });

/** The fields of every log line about a NodeClaim, named as in Karpenter, so that its users find them. */
export function claimLogFields(name: string) {
  return {
    controller: "nodeclaim.lifecycle",
    controllerGroup: "karpenter.sh",
    controllerKind: "NodeClaim",
    NodeClaim: { name },
    namespace: "",
    name,
  };
}
