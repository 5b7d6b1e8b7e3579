import { expect, it } from "vitest";
import type { LaunchTemplate } from "../../../../core/model/fleet.ts";
import { memoryMetrics } from "../../../../functions/adapters/metrics.ts";
import { countLaunchFailures, reportUserDataSize } from "../../../../functions/lifecycle/launch/metrics.ts";
import { nodeClass } from "../../../core/launch/support.ts";
import { recordingLog } from "../../../support/fakes.ts";

it("each offering that a launch was refused is counted by zone, capacity type and reason", () => {
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

const template = (userData: string) => ({ userData }) as LaunchTemplate;

it.for([
  { bytes: 14_745, warned: 0 },
  { bytes: 14_746, warned: 1 },
])(
  "the size of the longest user data is published, with a warning near EC2's limit: $bytes bytes, $warned warnings",
  ({ bytes, warned }) => {
    const metrics = memoryMetrics();
    const said: string[] = [];
    const log = { ...recordingLog(), info: (message: string) => void said.push(message) };
    reportUserDataSize("default", [template("é"), template("x".repeat(bytes))], { metrics, log });
    expect(metrics.records).toMatchObject([{ name: "ec2nodeclasses_userdata_bytes", labels: { nodeclass: "default" }, value: bytes }]);
    expect(said).toHaveLength(warned);
  },
);
