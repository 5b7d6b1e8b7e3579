import type { _InstanceType, FleetLaunchTemplateOverridesRequest, RequestLaunchTemplateData } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { ec2Client, errorOf, type FleetAsk, fakeAws, fleet, imageFor, outcome, subnetIn, template } from "./support.ts";

type Pools = readonly (readonly [type: string, zone: string, priority?: number])[];

const ZONE_A = "us-west-2a";

async function launched(pools: Pools, ask: Omit<FleetAsk, "overrides"> = {}, options: Parameters<typeof fakeAws>[0] = {}) {
  const fake = await fakeAws(options);
  const ec2 = ec2Client(fake);
  await template(fake, ec2);
  const overrides = pools.map(
    ([type, zone, Priority]): FleetLaunchTemplateOverridesRequest => ({
      InstanceType: type as _InstanceType,
      SubnetId: subnetIn(fake, zone),
      ...(Priority === undefined ? {} : { Priority }),
    }),
  );
  return { fake, ec2, answer: await ec2.send(fleet(fake, { ...ask, overrides })) };
}

describe("allocation", () => {
  it.for<{ name: string; pools: Pools; ask?: Omit<FleetAsk, "overrides">; want: string[] }>([
    {
      name: "on-demand takes the lowest price",
      pools: [
        ["r5.large", ZONE_A],
        ["c5.large", ZONE_A],
        ["m5.large", ZONE_A],
      ],
      want: ["1 c5.large us-west-2a"],
    },
    {
      name: "equal prices keep the request's order",
      pools: [
        ["m5.large", "us-west-2c"],
        ["m5.large", ZONE_A],
      ],
      want: ["1 m5.large us-west-2c"],
    },
    {
      name: "spot takes the cheapest zone",
      pools: [
        ["m5.large", ZONE_A],
        ["m5.large", "us-west-2d"],
      ],
      ask: { capacityType: "spot", more: { SpotOptions: { AllocationStrategy: "price-capacity-optimized" } } },
      want: ["1 m5.large us-west-2d"],
    },
    {
      name: "prioritized takes the smallest priority, whatever it costs",
      pools: [
        ["c5.large", ZONE_A, 2],
        ["r5.large", ZONE_A, 1],
      ],
      ask: { more: { OnDemandOptions: { AllocationStrategy: "prioritized" } } },
      want: ["1 r5.large us-west-2a"],
    },
    {
      name: "a target of four comes from one pool",
      pools: [["m5.large", ZONE_A]],
      ask: { count: 4 },
      want: ["4 m5.large us-west-2a"],
    },
  ])("$name", async ({ pools, ask, want }) => {
    expect(outcome((await launched(pools, ask)).answer)).toEqual({ instances: want, errors: [] });
  });

  it("a fleet lists each pool that cannot launch, and still launches", async () => {
    const { answer } = await launched([
      ["g4dn.xlarge", "us-west-2d"],
      ["m5.large", ZONE_A],
    ]);
    expect(outcome(answer)).toEqual({ instances: ["1 m5.large us-west-2a"], errors: [] });
    const { answer: second } = await launched([["g4dn.xlarge", "us-west-2d"]]);
    expect(outcome(second)).toEqual({ instances: [], errors: ["InvalidFleetConfiguration"] });
  });

  it("a fleet launches nothing when fewer than the minimum are available", async () => {
    const { fake, answer } = await launched(
      [["m5.large", ZONE_A]],
      { count: 3, more: { OnDemandOptions: { MinTargetCapacity: 3 } } },
      { subnets: [{ zone: ZONE_A, freeAddresses: 2 }] },
    );
    expect(outcome(answer)).toEqual({ instances: [], errors: ["InsufficientFreeAddressesInSubnet"] });
    expect(fake.state.instances.size).toBe(0);
  });
});

describe("what a launch needs", () => {
  it.for<{ name: string; data: RequestLaunchTemplateData; want: string }>([
    { name: "an image that exists", data: { ImageId: "ami-0badbadbadbadbad0" }, want: "InvalidAMIID.NotFound" },
    { name: "a group that exists", data: { SecurityGroupIds: ["sg-0badbadbadbadbad0"] }, want: "InvalidGroup.NotFound" },
    { name: "a group of the subnet's network", data: { SecurityGroupIds: ["sg-0123456789abcdef0"] }, want: "InvalidParameter" },
    { name: "a profile that exists", data: { IamInstanceProfile: { Name: "absent" } }, want: "InvalidParameterValue" },
  ])("$name", async ({ data, want }) => {
    const fake = await fakeAws({
      securityGroups: [{ name: "default" }, { name: "elsewhere", id: "sg-0123456789abcdef0", vpcId: "vpc-0fa4e000000000002" }],
    });
    const ec2 = ec2Client(fake);
    await template(fake, ec2, "t-1", data);
    expect(outcome(await ec2.send(fleet(fake)))).toEqual({ instances: [], errors: [want] });
  });

  it("a launch with an image of another architecture is refused", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2, "arm", { ImageId: imageFor(fake, "arm64") });
    expect(outcome(await ec2.send(fleet(fake, { template: "arm" }))).errors).toEqual(["InvalidParameterValue"]);
    const onArm = [{ InstanceType: "c6g.large" as const, SubnetId: subnetIn(fake, ZONE_A) }];
    expect(outcome(await ec2.send(fleet(fake, { template: "arm", overrides: onArm }))).instances).toEqual(["1 c6g.large us-west-2a"]);
  });

  it("a fleet launches no more instances than the subnet has addresses, and a termination frees the address", async () => {
    const fake = await fakeAws({ subnets: [{ zone: ZONE_A, freeAddresses: 2 }], forgetAfterMs: 1000 });
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    expect(outcome(await ec2.send(fleet(fake, { count: 3 })))).toEqual({
      instances: ["2 m5.large us-west-2a"],
      errors: ["InsufficientFreeAddressesInSubnet"],
    });
    for (const id of fake.state.instances.keys()) fake.crash(id);
    fake.advance(5000);
    expect(outcome(await ec2.send(fleet(fake, { count: 2 }))).instances).toEqual(["2 m5.large us-west-2a"]);
  });

  it("a fleet uses the next pool when a subnet is full", async () => {
    const fake = await fakeAws({ subnets: [{ zone: ZONE_A, freeAddresses: 0 }, { zone: "us-west-2b" }] });
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const overrides = ["us-west-2a", "us-west-2b"].map((zone) => ({ InstanceType: "m5.large" as const, SubnetId: subnetIn(fake, zone) }));
    expect(outcome(await ec2.send(fleet(fake, { overrides })))).toEqual({
      instances: ["1 m5.large us-west-2b"],
      errors: ["InsufficientFreeAddressesInSubnet"],
    });
  });

  it("more than fifty launch template configs, and fleets that are not instant, are refused", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const [config] = fleet(fake).input.LaunchTemplateConfigs ?? [];
    const many = Array.from({ length: 51 }, () => config ?? {});
    expect(await errorOf(ec2.send(fleet(fake, { more: { LaunchTemplateConfigs: many } })))).toBe("InvalidParameterValue");
    expect(await errorOf(ec2.send(fleet(fake, { more: { Type: "maintain" } })))).toBe("UnsupportedOperation");
  });
});

describe("client tokens", () => {
  it("the same client token returns the same instances, even when the first answer was a shortage", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", times: 1, ice: { instanceType: "m5.large" } });
    const first = await ec2.send(fleet(fake, { token: "claim-1" }));
    const second = await ec2.send(fleet(fake, { token: "claim-1" }));
    expect(outcome(first).errors).toEqual(["InsufficientInstanceCapacity"]);
    expect(second.FleetId).toBe(first.FleetId);
    expect(outcome(second)).toEqual(outcome(first));
    expect(outcome(await ec2.send(fleet(fake, { token: "claim-2" }))).instances).toHaveLength(1);
  });

  it("a client token with a changed priority is refused", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const at = (Priority: number) => [{ InstanceType: "m5.large" as const, SubnetId: subnetIn(fake, ZONE_A), Priority }];
    await ec2.send(fleet(fake, { token: "claim-1", overrides: at(0.096) }));
    expect(await errorOf(ec2.send(fleet(fake, { token: "claim-1", overrides: at(0.095) })))).toBe("IdempotentParameterMismatch");
    expect(fake.state.instances.size).toBe(1);
  });

  it("a client token has at most 64 characters", async () => {
    const fake = await fakeAws();
    expect(await errorOf(ec2Client(fake).send(fleet(fake, { token: "x".repeat(65) })))).toBe("InvalidParameterValue");
  });

  it("a client token can be used again after a refusal", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    expect(await errorOf(ec2.send(fleet(fake, { token: "claim-1" })))).toBe("InvalidLaunchTemplateName.NotFoundException");
    await template(fake, ec2);
    expect(outcome(await ec2.send(fleet(fake, { token: "claim-1" }))).instances).toHaveLength(1);
  });
});

describe("capacity reservations", () => {
  const reservation = {
    CapacityReservationId: "cr-0123456789abcdef0",
    InstanceType: "m5.large",
    AvailabilityZone: ZONE_A,
    State: "active",
    AvailableInstanceCount: 1,
    TotalInstanceCount: 1,
  } as const;

  it("a capacity reservation does not help when the subnet is full", async () => {
    const fake = await fakeAws({ capacityReservations: [reservation], subnets: [{ zone: ZONE_A, freeAddresses: 0 }] });
    const ec2 = ec2Client(fake);
    await template(fake, ec2, "reserved", {
      CapacityReservationSpecification: { CapacityReservationTarget: { CapacityReservationId: reservation.CapacityReservationId } },
    });
    expect(outcome(await ec2.send(fleet(fake, { template: "reserved" }))).errors).toEqual(["InsufficientFreeAddressesInSubnet"]);
  });

  it("a targeted launch uses a capacity reservation, and its termination returns it", async () => {
    const fake = await fakeAws({ capacityReservations: [reservation] });
    const ec2 = ec2Client(fake);
    await template(fake, ec2, "reserved", {
      CapacityReservationSpecification: {
        CapacityReservationPreference: "capacity-reservations-only",
        CapacityReservationTarget: { CapacityReservationId: reservation.CapacityReservationId },
      },
    });
    expect(outcome(await ec2.send(fleet(fake, { template: "reserved" }))).instances).toEqual(["1 m5.large us-west-2a"]);
    expect(outcome(await ec2.send(fleet(fake, { template: "reserved" })))).toEqual({
      instances: [],
      errors: ["ReservationCapacityExceeded"],
    });
    const [instance] = fake.state.instances.values();
    expect(instance?.capacityReservationId).toBe(reservation.CapacityReservationId);
    fake.crash(instance?.id ?? "");
    fake.advance(5000);
    expect(fake.state.capacityReservations[0]?.AvailableInstanceCount).toBe(1);
  });
});
