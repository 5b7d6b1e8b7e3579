import type { FleetOverride } from "#core/model/fleet.ts";
import type { CapacityType } from "#core/model/instance-type.ts";

/** A lack of capacity. A field that is absent matches everything. */
export interface Outage {
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: CapacityType;
  /** ms since the epoch, inclusive. */
  readonly from?: number;
  /** ms since the epoch, exclusive. */
  readonly until?: number;
  /** EC2's code; InsufficientInstanceCapacity when absent. */
  readonly code?: string;
  /** EC2's message; the type, the zone and the code when absent. */
  readonly message?: string;
  /** How many instances EC2 still has; each launch takes one. None when absent. */
  left?: number;
}

/**
 * Takes the capacity for one instance at this time (ms): undefined, or what EC2 says of the first outage that has none
 * left.
 */
export function takeCapacity(
  outages: readonly Outage[],
  { instanceType, zone }: FleetOverride,
  capacityType: CapacityType,
  now: number,
): { readonly code: string; readonly message?: string } | undefined {
  const hits = outages.filter(
    (outage) =>
      (outage.instanceType ?? instanceType) === instanceType &&
      (outage.zone ?? zone) === zone &&
      (outage.capacityType ?? capacityType) === capacityType &&
      now >= (outage.from ?? 0) &&
      now < (outage.until ?? Number.POSITIVE_INFINITY),
  );
  const empty = hits.find(({ left = 0 }) => left <= 0);
  if (empty) return { code: "InsufficientInstanceCapacity", ...empty };
  for (const hit of hits) hit.left = (hit.left ?? 0) - 1;
  return undefined;
}
