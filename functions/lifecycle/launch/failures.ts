import type { FleetResult } from "../../../core/model/fleet.ts";
import type { EC2NodeClass } from "../../../core/model/node-class.ts";
import type { Metrics } from "../../../core/ports/metrics.ts";

/** Counts each offering that a launch did not get, whether or not it got another one; the reason is EC2's code (metrics-events.md). */
export function countLaunchFailures({ errors }: FleetResult, nodeClass: EC2NodeClass | undefined, metrics: Metrics): void {
  const zoneIds = new Map(nodeClass?.status?.subnets?.map(({ zone, zoneID }) => [zone, zoneID]));
  for (const { code, zone = "", capacityType } of errors) {
    const labels = { zone, zone_id: zoneIds.get(zone) ?? "", capacity_type: capacityType, reason: code };
    metrics.count("cloudprovider_instance_launch_failures_total", labels);
  }
}
