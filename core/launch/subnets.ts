import type { ResolvedSubnet } from "../model/node-class.ts";

/**
 * One subnet per zone: the subnet with most free addresses where they are known, else the first of the status, which is
 * ordered by free addresses at the time it was written. Concurrent launches may pick the same subnet; a full subnet
 * shows as a launch error and is then in `full` until its mark expires.
 */
export function subnetByZone(
  subnets: readonly ResolvedSubnet[],
  freeIps: Readonly<Record<string, number>> = {},
  full: Pick<ReadonlySet<string>, "has"> = new Set(),
): ReadonlyMap<string, ResolvedSubnet> {
  const chosen = new Map<string, ResolvedSubnet>();
  for (const subnet of subnets) {
    if (full.has(subnet.id)) continue;
    const rival = chosen.get(subnet.zone);
    if (rival === undefined || (freeIps[subnet.id] ?? -1) > (freeIps[rival.id] ?? -1)) chosen.set(subnet.zone, subnet);
  }
  return chosen;
}
