import type { NodePool } from "../../../core/model/node-pool.ts";
import { isAlive, isStaticPool, POOL } from "./facts.ts";
import type { Sight } from "./invariant.ts";

/** The largest machine of the simulation's catalogue, in vCPUs. */
const MAX_VCPUS_OF_TYPE = 8;

/** Whether a pod may stay pending because the limits of each NodePool that it can use are nearly reached. */
export function isOutOfLimits(wanted: string | undefined, { pools, machines }: Pick<Sight, "pools" | "machines">): boolean {
  const open = pools.filter((pool) => !isStaticPool(pool) && (wanted === undefined || wanted === pool.metadata.name));
  return open.every(({ metadata, spec }: NodePool) => {
    const own = machines.filter((m) => isAlive(m) && m.instance.tags[POOL] === metadata.name);
    const cpu = Number(spec.limits?.["cpu"] ?? Number.POSITIVE_INFINITY) - own.reduce((sum, { type }) => sum + type.cpu, 0);
    const nodes = Number(spec.limits?.["nodes"] ?? Number.POSITIVE_INFINITY) - own.length;
    return cpu < MAX_VCPUS_OF_TYPE || nodes < 1;
  });
}
