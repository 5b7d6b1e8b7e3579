import { expect, it } from "vitest";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { LaunchTemplate } from "#core/model/fleet.ts";
import { countLaunchFailures, countRefusedLaunch, reportUserDataSize } from "#functions/lifecycle/launch/metrics.ts";
import { nodeClass } from "#test/core/launch/support.ts";
import { recordingLog } from "#test/support/fakes.ts";

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

it.for([
  { message: "UnauthorizedOperation: You are not authorized to perform this operation.", reason: "UnauthorizedOperation" },
  { message: "InvalidLaunchTemplateId.Malformed: lt-1", reason: "InvalidLaunchTemplateId.Malformed" },
  { message: "EC2 answered with neither an instance nor an error", reason: "LaunchFailed" },
])("a launch that EC2 refuses as a whole is counted without a zone, by EC2's code: $message", ({ message, reason }) => {
  const metrics = memoryMetrics();
  countRefusedLaunch(new Error(message), { capacityType: "spot" }, metrics);
  expect(metrics.records).toEqual([
    {
      ...{ kind: "count", name: "cloudprovider_instance_launch_failures_total", value: 1 },
      labels: { zone: "", zone_id: "", capacity_type: "spot", reason },
    },
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
