import { type HostPort, takenPort } from "../rules/host-ports.ts";
import { type Bitset, intersection } from "../tables/bitset.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { hasRoom } from "../tables/resource-axis.ts";
import type { Template } from "./template.ts";

/**
 * Types of `base` that agree with a set, have room for `need` (milli-units) and whose DaemonSets leave the ports free.
 */
export function openTypes(template: Template, base: Bitset, set: RequirementSet, need: Float64Array, ports: readonly HostPort[]): Bitset {
  const left = intersection(base, template.table.admitted(set));
  // Bit by bit, without a list of the members, because this runs for every claim of a plan.
  for (let w = 0; w < left.length; w++) {
    let open = left[w] ?? 0;
    let kept = open;
    while (open !== 0) {
      const low = open & -open;
      open ^= low;
      const t = (w << 5) + 31 - Math.clz32(low);
      if (!hasRoom(template.room, t * need.length, need) || !keepsFree(template, t, ports)) kept ^= low;
    }
    left[w] = kept;
  }
  return left;
}

/** Whether the DaemonSets that run on a type use none of the ports. */
export function keepsFree(template: Template, type: number, ports: readonly HostPort[]): boolean {
  if (ports.length === 0 || !template.hasDaemonPorts) return true;
  return takenPort(ports, template.daemonGroups[template.daemonGroupOf[type] ?? 0]?.ports ?? []) === undefined;
}
