import type { NodePool } from "#core/model/node-pool.ts";
import { capOf, isAlive, isStaticPool, POOL, sleepsWithin } from "./facts.ts";
import type { Sight } from "./invariant.ts";

/** The largest machine of the simulation's catalogue, in vCPUs and in USD per hour on demand. */
const MAX_VCPUS_OF_TYPE = 8;
const MAX_PRICE_OF_TYPE = 0.384;
/** How long pods may still wait for the nodes of a NodePool that has slept, ms. */
const AWAKE_MS = 8 * 60_000;

/**
 * Whether a pod may stay pending because each NodePool that it can use sleeps or has slept, or its limits are nearly
 * reached.
 */
export function isOutOfLimits(wanted: string | undefined, { now, pools, machines }: Pick<Sight, "now" | "pools" | "machines">): boolean {
  const open = pools.filter((pool) => !isStaticPool(pool) && (wanted === undefined || wanted === pool.metadata.name));
  return open.every((pool: NodePool) => {
    const { metadata, spec } = pool;
    const own = machines.filter((m) => isAlive(m) && m.instance.tags[POOL] === metadata.name);
    const cpu = Number(spec.limits?.["cpu"] ?? Number.POSITIVE_INFINITY) - own.reduce((sum, { type }) => sum + type.cpu, 0);
    const nodes = Number(spec.limits?.["nodes"] ?? Number.POSITIVE_INFINITY) - own.length;
    return cpu < MAX_VCPUS_OF_TYPE || nodes < 1 || isCapped(pool, { now, machines });
  });
}

/** Whether a NodePool sleeps or has slept, or its price cap may leave no room for another machine. */
export function isCapped(pool: NodePool, { now, machines }: Pick<Sight, "now" | "machines">): boolean {
  const own = machines.filter((m) => isAlive(m) && m.instance.tags[POOL] === pool.metadata.name);
  const dollars = capOf(pool) - own.reduce((sum, { price }) => sum + price, 0);
  return dollars < MAX_PRICE_OF_TYPE || sleepsWithin(pool, now - AWAKE_MS, now);
}
