import { expect, it } from "vitest";
import { memoryMetrics } from "../../../../functions/adapters/metrics.ts";
import { countLaunchFailures } from "../../../../functions/lifecycle/launch/failures.ts";
import { nodeClass } from "../../../core/launch/support.ts";

it("counts each offering that EC2 did not give, by where it was and why", () => {
  const metrics = memoryMetrics();
  const error = { message: "m", capacityType: "spot" as const };
  const errors = [
    { ...error, code: "InsufficientInstanceCapacity", zone: "us-west-2a" },
    { ...error, code: "VcpuLimitExceeded" },
  ];
  countLaunchFailures({ errors }, nodeClass(), metrics);
  const zoneId = nodeClass().status?.subnets?.find(({ zone }) => zone === "us-west-2a")?.zoneID;
  expect(metrics.records.map(({ labels }) => labels)).toEqual([
    { zone: "us-west-2a", zone_id: zoneId, capacity_type: "spot", reason: "InsufficientInstanceCapacity" },
    { zone: "", zone_id: "", capacity_type: "spot", reason: "VcpuLimitExceeded" },
  ]);
});
