import type { CapacityReservation } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { capacityReservations, placementGroup } from "#adapters/aws/capacity.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { launchTemplateData } from "#adapters/aws/launch-template-data.ts";
import type { FleetRequest, LaunchTemplate, ReservationTarget } from "#core/model/fleet.ts";
import { ec2Client, fakeAws, imageFor, subnetIn } from "../../fake-aws/support.ts";

function reservation(CapacityReservationId: string, over: Partial<CapacityReservation> = {}): CapacityReservation {
  return {
    CapacityReservationId,
    ...{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", InstanceMatchCriteria: "targeted", OwnerId: "111122223333" },
    ...{ State: "active", AvailableInstanceCount: 1, TotalInstanceCount: 1, Tags: [{ Key: "team", Value: "a" }] },
    ...over,
  };
}

describe("capacityReservations", () => {
  it.for([
    { name: "by id, passing over one that does not exist", terms: [{ id: "cr-1" }, { id: "cr-0" }], want: ["cr-1"] },
    { name: "by tag and owner together", terms: [{ tags: { team: "*" }, ownerID: "111122223333" }], want: ["cr-1", "cr-3"] },
    { name: "by how instances match", terms: [{ instanceMatchCriteria: "open" as const }], want: ["cr-2"] },
    { name: "each once, whatever terms name it", terms: [{ id: "cr-1" }, { tags: { team: "a" } }], want: ["cr-1", "cr-3"] },
  ])("active capacity reservations are found $name", async ({ terms, want }) => {
    const fake = await fakeAws({
      capacityReservations: [
        reservation("cr-1"),
        reservation("cr-2", { InstanceMatchCriteria: "open", Tags: [], OwnerId: "444455556666" }),
        reservation("cr-3", { ReservationType: "capacity-block", EndDate: new Date("2026-12-01T00:00:00Z") }),
        reservation("cr-4", { State: "expired" }),
      ],
    });
    const found = await capacityReservations(ec2Client(fake), terms);
    expect(found.map(({ id }) => id).sort()).toEqual(want);
  });

  it("a capacity reservation has what the status and launches need", async () => {
    const block = reservation("cr-3", {
      ReservationType: "capacity-block",
      EndDate: new Date("2026-12-01T00:00:00Z"),
      AvailableInstanceCount: 4,
    });
    const [found] = await capacityReservations(ec2Client(await fakeAws({ capacityReservations: [block] })), [{ id: "cr-3" }]);
    expect(found).toEqual({
      ...{ id: "cr-3", zone: "us-west-2a", instanceType: "m5.large", instanceMatchCriteria: "targeted", ownerID: "111122223333" },
      ...{ reservationType: "capacity-block", interruptible: false, availableInstances: 4, endTime: "2026-12-01T00:00:00.000Z" },
    });
  });
});

describe("placementGroup", () => {
  it("a placement group is found by name or id; a missing one is undefined", async () => {
    const fake = await fakeAws({
      placementGroups: [{ GroupId: "pg-1", GroupName: "team", Strategy: "partition", PartitionCount: 3, State: "available" }],
    });
    const want = { id: "pg-1", name: "team", strategy: "partition", partitionCount: 3 };
    expect(await placementGroup(ec2Client(fake), { name: "team" })).toEqual(want);
    expect(await placementGroup(ec2Client(fake), { id: "pg-1" })).toEqual(want);
    expect(await placementGroup(ec2Client(fake), { name: "nobody's" })).toBeUndefined();
  });
});

const tags = { "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "karpenter-test" };

function template(imageId: string, target: LaunchTemplate["reservation"]): LaunchTemplate {
  return {
    ...{ name: "karpenter.k8s.aws/0123456789abcdef", imageId, userData: "", instanceProfile: "", securityGroupIds: [] },
    ...{ blockDeviceMappings: [], detailedMonitoring: false, tags },
    metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
    ...(target && { reservation: target }),
  };
}

describe("a launch into a reservation", () => {
  const target: ReservationTarget = { id: "cr-1", type: "default", interruptible: false };

  it("a launch into a reservation uses its capacity, returns a reserved instance, and fails when the reservation is full", async () => {
    const fake = await fakeAws({ capacityReservations: [reservation("cr-1")] });
    const fleet = ec2Fleet(ec2Client(fake));
    const made = template(imageFor(fake), target);
    await fleet.ensureLaunchTemplate(made);
    const place = { instanceType: "m5.large", subnetId: subnetIn(fake, "us-west-2a"), zone: "us-west-2a", imageId: made.imageId, price: 0 };
    const request = (clientToken: string): FleetRequest => ({
      ...{ clientToken, capacityType: "reserved", tags },
      launchTemplates: [{ name: made.name, overrides: [place], reservation: target }],
    });
    const { instance } = await fleet.launch(request("uid-0"));
    expect(instance).toMatchObject({ capacityType: "reserved" });
    expect((await fleet.describe([instance?.id ?? ""]))[0]).toMatchObject({ capacityType: "reserved", reservationId: "cr-1" });
    const second = await fleet.launch(request("uid-1"));
    expect(second.instance).toBeUndefined();
    expect(second.errors).toMatchObject([{ code: "ReservationCapacityExceeded", capacityType: "reserved", instanceType: "m5.large" }]);
  });

  it.for<{ name: string; kind: Partial<ReservationTarget>; want: object }>([
    {
      name: "an ordinary one",
      kind: {},
      want: {
        TargetCapacitySpecification: { DefaultTargetCapacityType: "on-demand" },
        OnDemandOptions: { AllocationStrategy: "lowest-price" },
      },
    },
    {
      name: "a capacity block",
      kind: { type: "capacity-block" },
      want: { TargetCapacitySpecification: { DefaultTargetCapacityType: "capacity-block" } },
    },
    {
      name: "an interruptible one",
      kind: { interruptible: true },
      want: {
        TargetCapacitySpecification: { DefaultTargetCapacityType: "reserved-capacity" },
        ReservedCapacityOptions: { ReservationTypes: ["interruptible-capacity-reservation"] },
      },
    },
  ])("CreateFleet requests the kind of capacity of the reservation: $name", async ({ kind, want }) => {
    const fake = await fakeAws({ capacityReservations: [reservation("cr-1")] });
    const fleet = ec2Fleet(ec2Client(fake));
    const made = template(imageFor(fake), { ...target, ...kind });
    await fleet.ensureLaunchTemplate(made);
    const place = { instanceType: "m5.large", subnetId: subnetIn(fake, "us-west-2a"), zone: "us-west-2a", imageId: made.imageId, price: 0 };
    const launchTemplates = [{ name: made.name, overrides: [place], reservation: { ...target, ...kind } }];
    await fleet.launch({ clientToken: "uid-0", capacityType: "reserved", tags, launchTemplates });
    const { params = {} } = fake.state.calls.find(({ action }) => action === "CreateFleet") ?? {};
    expect(params).toMatchObject(want);
    expect(Object.keys(params).filter((name) => name.endsWith("Options"))).toEqual(
      Object.keys(want).filter((name) => name.endsWith("Options")),
    );
  });

  it.for<{ name: string; target: LaunchTemplate["reservation"]; want: object }>([
    {
      name: "an ordinary one",
      target,
      want: {
        CapacityReservationSpecification: {
          CapacityReservationPreference: "capacity-reservations-only",
          CapacityReservationTarget: { CapacityReservationId: "cr-1" },
        },
      },
    },
    {
      name: "a capacity block",
      target: { ...target, type: "capacity-block" },
      want: { InstanceMarketOptions: { MarketType: "capacity-block" } },
    },
    {
      name: "an interruptible one",
      target: { ...target, interruptible: true },
      want: { InstanceMarketOptions: { MarketType: "interruptible-capacity-reservation" } },
    },
    { name: "none", target: "none", want: { CapacityReservationSpecification: { CapacityReservationPreference: "none" } } },
  ])("the reservation is in the launch template's data: $name", ({ target: reserved, want }) => {
    expect(launchTemplateData(template("ami-1", reserved), "us-west-2")).toMatchObject(want);
  });
});
