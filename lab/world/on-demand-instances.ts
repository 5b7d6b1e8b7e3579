import { NODE_POOL } from "#core/model/labels.ts";
import { familyOf } from "#core/model/paid-capacity.ts";
import { CLUSTER_TAG } from "#core/model/tags.ts";
import type { OnDemandInstance } from "#core/ports/cloud-inventory.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";

/** The instances of the account that are billed on demand, of some families when they are named. */
export function onDemandInstances(
  machines: readonly SimulatedInstance[],
  families: readonly string[] | undefined,
): readonly OnDemandInstance[] {
  return machines.flatMap(
    ({ instance: { id, instanceType, zone, capacityType, launchedAt, state, tags } }): readonly OnDemandInstance[] => {
      const runs = state === "pending" || state === "running";
      if (!runs || capacityType === "spot" || (families !== undefined && !families.includes(familyOf(instanceType)))) return [];
      const cluster = tags[NODE_POOL] === undefined ? undefined : tags[CLUSTER_TAG];
      const isOfPool = cluster !== undefined;
      return [{ id, instanceType, zone, launchedAt, ...(isOfPool && { cluster }), isWindows: false, isDedicated: false }];
    },
  );
}
