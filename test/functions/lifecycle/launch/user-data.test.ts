import { expect, it } from "vitest";
import type { LaunchTemplate } from "../../../../core/model/fleet.ts";
import { memoryMetrics } from "../../../../functions/adapters/metrics.ts";
import { reportUserDataSize } from "../../../../functions/lifecycle/launch/user-data.ts";
import { recordingLog } from "../../../support/fakes.ts";

const template = (userData: string) => ({ userData }) as LaunchTemplate;

it.for([
  { bytes: 14_745, warned: 0 },
  { bytes: 14_746, warned: 1 },
])("tells the longest user data, and warns near EC2's limit: $bytes bytes, $warned warnings", ({ bytes, warned }) => {
  const metrics = memoryMetrics();
  const said: string[] = [];
  const log = { ...recordingLog(), info: (message: string) => void said.push(message) };
  reportUserDataSize("default", [template("é"), template("x".repeat(bytes))], { metrics, log });
  expect(metrics.records).toMatchObject([{ name: "ec2nodeclasses_userdata_bytes", labels: { nodeclass: "default" }, value: bytes }]);
  expect(said).toHaveLength(warned);
});
