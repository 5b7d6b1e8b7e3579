import type { FleetOverride } from "../../core/model/fleet.ts";
import type { CapacityType } from "../../core/model/instance-type.ts";

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
}

/** EC2's code for the first outage at this time (ms) that a launch would meet; undefined when it meets no outage. */
export function outageCode(
  outages: readonly Outage[],
  { instanceType, zone }: FleetOverride,
  capacityType: CapacityType,
  now: number,
): string | undefined {
  const hit = outages.find(
    (outage) =>
      (outage.instanceType ?? instanceType) === instanceType &&
      (outage.zone ?? zone) === zone &&
      (outage.capacityType ?? capacityType) === capacityType &&
      now >= (outage.from ?? 0) &&
      now < (outage.until ?? Number.POSITIVE_INFINITY),
  );
  return hit && (hit.code ?? "InsufficientInstanceCapacity");
}
