import { expect, it } from "vitest";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { FleetRequest, FleetResult } from "#core/model/fleet.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import { measuredFleet, terminateInstance } from "#functions/lifecycle/measured-fleet.ts";
import { INSTANCE, NOW } from "../../support/builders.ts";

const REQUEST = {} as FleetRequest;
const labels = (method: string) => ({ controller: "lifecycle", method, provider: "aws" });
const offering = { instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" } as const;

/** Each call of the fleet takes two seconds. */
function fleetOf(fleet: Partial<Fleet>) {
  const metrics = memoryMetrics();
  let looks = 0;
  const measured = measuredFleet({ fleet: fleet as Fleet, metrics, now: () => NOW + 2_000 * looks++ });
  return { measured, metrics };
}

const refusing = (code: string) => async (): Promise<FleetResult> => ({ errors: [{ code, message: "", ...offering }] }) as FleetResult;

it("each call has its duration under Karpenter's name of the method, and no error when it succeeds", async () => {
  const { measured, metrics } = fleetOf({
    launch: async () =>
      ({ instance: INSTANCE, errors: [{ code: "InsufficientInstanceCapacity", message: "", ...offering }] }) as FleetResult,
    terminate: async () => {},
    describe: async () => [],
    list: async () => [],
  });
  await measured.launch(REQUEST);
  await measured.terminate("i-1");
  await measured.describe(["i-1", "i-2"]);
  await measured.list("c1");
  expect(metrics.records).toEqual(
    ["Create", "Delete", "Get", "List"].map((method) => ({
      ...{ kind: "observe", name: "cloudprovider_duration_seconds", labels: labels(method), value: 2 },
    })),
  );
});

it.for([
  {
    name: "a launch without capacity",
    call: (fleet: Fleet) => fleet.launch(REQUEST),
    method: "Create",
    error: "InsufficientCapacityError",
  },
  {
    name: "an instance that EC2 does not know",
    call: (fleet: Fleet) => fleet.describe(["i-1"]),
    method: "Get",
    error: "NodeClaimNotFoundError",
  },
  { name: "a call that throws", call: (fleet: Fleet) => fleet.list("c1"), method: "List", error: "" },
])("$name is an error of the method", async ({ call, method, error }) => {
  const { measured, metrics } = fleetOf({
    launch: refusing("InsufficientInstanceCapacity"),
    describe: async () => [],
    list: () => Promise.reject(new Error("RequestLimitExceeded")),
  });
  await call(measured).catch(() => undefined);
  expect(metrics.total("cloudprovider_errors_total", { ...labels(method), error })).toBe(1);
  expect(metrics.total("cloudprovider_errors_total")).toBe(1);
});

it("a launch that EC2 refuses for another reason is an error without a name", async () => {
  const { measured, metrics } = fleetOf({ launch: refusing("UnauthorizedOperation") });
  await measured.launch(REQUEST);
  expect(metrics.total("cloudprovider_errors_total", { ...labels("Create"), error: "" })).toBe(1);
});

it("a refused termination is counted by zone, and still fails", async () => {
  const metrics = memoryMetrics();
  const fleet = { terminate: () => Promise.reject(new Error("OperationNotPermitted")) } as Partial<Fleet> as Fleet;
  const place = { zone: "us-west-2a", zoneId: "usw2-az1" };
  await expect(terminateInstance("i-1", place, { fleet, metrics })).rejects.toThrow("OperationNotPermitted");
  expect(metrics.total("cloudprovider_instance_termination_failures_total", { zone: "us-west-2a", zone_id: "usw2-az1" })).toBe(1);
});
