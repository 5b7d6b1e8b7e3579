import type { ResolvedSubnet } from "../model/node-class.ts";

/**
 * One subnet a zone: that with most free addresses where they are known, else the first in the status, which lists them by free addresses as
 * they were when it was written (launch.md §7). Concurrent launches may pick the same one; a full subnet shows as a launch error, and
 * is then in `full` for a while.
 */
export function subnetByZone(
  subnets: readonly ResolvedSubnet[],
  freeIps: Readonly<Record<string, number>> = {},
  full: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, ResolvedSubnet> {
  const chosen = new Map<string, ResolvedSubnet>();
  for (const subnet of subnets) {
    if (full.has(subnet.id)) continue;
    const rival = chosen.get(subnet.zone);
    if (rival === undefined || (freeIps[subnet.id] ?? -1) > (freeIps[rival.id] ?? -1)) chosen.set(subnet.zone, subnet);
  }
  return chosen;
}
