import assert from "node:assert/strict";
import {
  DescribeAvailabilityZonesCommand,
  DescribeCapacityReservationsCommand,
  DescribeImagesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  DescribePlacementGroupsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSpotPriceHistoryCommand,
  DescribeSubnetsCommand,
  paginateDescribeInstanceTypes,
  paginateDescribeSpotPriceHistory,
} from "@aws-sdk/client-ec2";
import { present, refused } from "./assertions.ts";
import type { Check } from "./contract.ts";

const HARDWARE = [
  { Name: "supported-virtualization-type", Values: ["hvm"] },
  { Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] },
];

export const lookupChecks: readonly Check[] = [
  {
    name: "a subnet says its zone, zone id and free addresses",
    async run(world) {
      const id = present(world.subnets[0]?.SubnetId, "a subnet");
      const { Subnets = [] } = await world.ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "subnet-id", Values: [id] }] }));
      assert.equal(Subnets.length, 1);
      assert.match(Subnets[0]?.AvailabilityZone ?? "", /^us-west-2[a-d]$/);
      assert.match(Subnets[0]?.AvailabilityZoneId ?? "", /^usw2-az\d$/);
      assert.ok((Subnets[0]?.AvailableIpAddressCount ?? 0) > 0);
    },
  },
  {
    name: "an unknown subnet id is an error by id and nothing by filter",
    async run(world) {
      await refused(world.ec2.send(new DescribeSubnetsCommand({ SubnetIds: ["subnet-0badbadbadbadbad0"] })), "InvalidSubnetID.NotFound");
      const { Subnets } = await world.ec2.send(
        new DescribeSubnetsCommand({ Filters: [{ Name: "subnet-id", Values: ["subnet-0badbadbadbadbad0"] }] }),
      );
      assert.deepEqual(Subnets ?? [], []);
    },
  },
  {
    name: "a security group is found by id and by name",
    async run(world) {
      for (const filter of [
        { Name: "group-id", Values: [world.groupId] },
        { Name: "group-name", Values: ["default"] },
      ]) {
        const { SecurityGroups = [] } = await world.ec2.send(new DescribeSecurityGroupsCommand({ Filters: [filter] }));
        assert.ok(
          SecurityGroups.some(({ GroupId }) => GroupId === world.groupId),
          filter.Name,
        );
      }
    },
  },
  {
    name: "zones have names and ids",
    async run(world) {
      const { AvailabilityZones = [] } = await world.ec2.send(new DescribeAvailabilityZonesCommand({}));
      assert.ok(AvailabilityZones.length >= 3);
      assert.equal(AvailabilityZones.find(({ ZoneName }) => ZoneName === "us-west-2a")?.ZoneId, "usw2-az2");
    },
  },
  {
    name: "an image says its name, architecture and creation date",
    async run(world) {
      const { Images = [] } = await world.ec2.send(new DescribeImagesCommand({ ImageIds: [world.imageId] }));
      assert.equal(Images[0]?.ImageId, world.imageId);
      assert.equal(Images[0]?.Architecture, "x86_64");
      assert.ok(Number.isFinite(Date.parse(Images[0]?.CreationDate ?? "")));
      assert.ok(Images[0]?.Name);
    },
  },
  {
    name: "an unknown image is an error by id and nothing by filter",
    async run(world) {
      await refused(world.ec2.send(new DescribeImagesCommand({ ImageIds: ["ami-0badbadbadbadbad0"] })), "InvalidAMIID.NotFound");
      const { Images } = await world.ec2.send(
        new DescribeImagesCommand({ Filters: [{ Name: "image-id", Values: ["ami-0badbadbadbadbad0"] }] }),
      );
      assert.deepEqual(Images ?? [], []);
    },
  },
  {
    name: "an instance type has its CPUs, memory, network and usage classes",
    async run(world) {
      const { InstanceTypes = [] } = await world.ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["m5.large"] }));
      const type = present(InstanceTypes[0], "m5.large");
      assert.equal(type.VCpuInfo?.DefaultVCpus, 2);
      assert.equal(type.MemoryInfo?.SizeInMiB, 8192);
      assert.equal(type.NetworkInfo?.MaximumNetworkInterfaces, 3);
      assert.equal(type.NetworkInfo?.Ipv4AddressesPerInterface, 10);
      assert.deepEqual(type.ProcessorInfo?.SupportedArchitectures, ["x86_64"]);
      assert.deepEqual(type.SupportedUsageClasses?.toSorted(), ["on-demand", "spot"]);
      assert.equal(type.Hypervisor, "nitro");
      assert.equal(type.BareMetal, false);
    },
  },
  {
    name: "instance types filtered by hardware come in pages of a hundred at most",
    async run(world) {
      const names: (string | undefined)[] = [];
      for await (const page of paginateDescribeInstanceTypes({ client: world.ec2, pageSize: 100 }, { Filters: HARDWARE })) {
        assert.ok((page.InstanceTypes ?? []).length <= 100, `a page of ${page.InstanceTypes?.length}`);
        names.push(...(page.InstanceTypes ?? []).map(({ InstanceType }) => InstanceType));
      }
      assert.ok(names.includes("m5.large") && names.includes("c6g.large"));
    },
  },
  {
    name: "an unknown instance type is InvalidInstanceType",
    async run(world) {
      const ask = new DescribeInstanceTypesCommand({ InstanceTypes: ["m5.colossal" as "m5.large"] });
      await refused(world.ec2.send(ask), "InvalidInstanceType");
    },
  },
  {
    name: "offerings by zone tell where a type is sold",
    async run(world) {
      const { InstanceTypeOfferings = [] } = await world.ec2.send(
        new DescribeInstanceTypeOfferingsCommand({
          LocationType: "availability-zone",
          Filters: [{ Name: "instance-type", Values: ["g4dn.xlarge"] }],
        }),
      );
      assert.deepEqual(InstanceTypeOfferings.map(({ Location }) => Location).toSorted(), ["us-west-2a", "us-west-2b", "us-west-2c"]);
    },
  },
  {
    name: "spot prices come per type and zone, current ones for a start time of now",
    async run(world) {
      const { SpotPriceHistory = [] } = await world.ec2.send(
        new DescribeSpotPriceHistoryCommand({
          StartTime: new Date(),
          ProductDescriptions: ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
          InstanceTypes: ["m5.large"],
        }),
      );
      const zones = new Set(SpotPriceHistory.map(({ AvailabilityZone }) => AvailabilityZone));
      assert.ok(zones.size >= 3, `${zones.size} zones`);
      for (const { InstanceType, SpotPrice } of SpotPriceHistory) {
        assert.equal(InstanceType, "m5.large");
        assert.ok(Number(SpotPrice) > 0);
      }
    },
  },
  {
    name: "spot prices differ between types and are below on-demand",
    async run(world) {
      const { SpotPriceHistory = [] } = await world.ec2.send(
        new DescribeSpotPriceHistoryCommand({ StartTime: new Date(), InstanceTypes: ["m5.large", "m5.xlarge"] }),
      );
      const of = (type: string) => SpotPriceHistory.filter(({ InstanceType }) => InstanceType === type).map((row) => Number(row.SpotPrice));
      assert.ok(Math.min(...of("m5.xlarge")) > Math.min(...of("m5.large")));
      assert.ok(Math.max(...of("m5.large")) < 0.096);
    },
  },
  {
    name: "the SDK's paginator comes to the end of the spot prices",
    async run(world) {
      let pages = 0;
      for await (const page of paginateDescribeSpotPriceHistory(
        { client: world.ec2, pageSize: 2000 },
        { StartTime: new Date(), ProductDescriptions: ["Linux/UNIX"], InstanceTypes: ["m5.large", "c5.large"] },
      )) {
        pages += 1;
        assert.ok(pages < 50 && page.SpotPriceHistory);
      }
    },
  },
  {
    name: "capacity reservations can be listed when there are none",
    async run(world) {
      const { CapacityReservations } = await world.ec2.send(
        new DescribeCapacityReservationsCommand({ Filters: [{ Name: "state", Values: ["active"] }], MaxResults: 1000 }),
      );
      assert.deepEqual(CapacityReservations ?? [], []);
    },
  },
  {
    name: "an unknown placement group is InvalidPlacementGroup.Unknown",
    async run(world) {
      await refused(
        world.ec2.send(new DescribePlacementGroupsCommand({ GroupNames: [world.unique("absent")] })),
        "InvalidPlacementGroup.Unknown",
      );
    },
  },
];
