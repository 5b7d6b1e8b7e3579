import type {
  DescribeAvailabilityZonesRequest,
  DescribeAvailabilityZonesResult,
  DescribeSecurityGroupsRequest,
  DescribeSecurityGroupsResult,
  DescribeSubnetsRequest,
  DescribeSubnetsResult,
} from "@aws-sdk/client-ec2";
import type { FakeZone } from "../catalogue.ts";
import { AwsError, notFound } from "../errors.ts";
import { type FakeAwsState, type FakeSecurityGroup, type FakeSubnet, tagList } from "../world.ts";
import { type Facets, page, select } from "./select.ts";

const SUBNET_FACETS: Facets<FakeSubnet> = {
  "subnet-id": ({ id }) => id,
  "availability-zone": ({ zone }) => zone,
  "availability-zone-id": ({ zoneId }) => zoneId,
  "vpc-id": ({ vpcId }) => vpcId,
  "cidr-block": ({ cidr }) => cidr,
  state: () => "available",
};

export function describeSubnets(world: FakeAwsState, request: DescribeSubnetsRequest): DescribeSubnetsResult {
  const ids = request.SubnetIds ?? [];
  const unknown = ids.filter((id) => !world.subnets.has(id));
  if (unknown.length > 0) throw notFound("SubnetID", "subnet ID", unknown);
  const named = [...world.subnets.values()].filter(({ id }) => ids.length === 0 || ids.includes(id));
  const { items, next } = page(select(named, request.Filters, SUBNET_FACETS), request, { min: 5, max: 1000 });
  return {
    Subnets: items.map((subnet) => ({
      SubnetId: subnet.id,
      SubnetArn: `arn:aws:ec2:${world.region}:${world.account}:subnet/${subnet.id}`,
      VpcId: subnet.vpcId,
      OwnerId: world.account,
      State: "available",
      CidrBlock: subnet.cidr,
      AvailableIpAddressCount: subnet.freeAddresses,
      AvailabilityZone: subnet.zone,
      AvailabilityZoneId: subnet.zoneId,
      DefaultForAz: false,
      MapPublicIpOnLaunch: false,
      AssignIpv6AddressOnCreation: false,
      Ipv6CidrBlockAssociationSet: [],
      Tags: tagList(subnet.tags),
    })),
    ...(next === undefined ? {} : { NextToken: next }),
  };
}

const GROUP_FACETS: Facets<FakeSecurityGroup> = {
  "group-id": ({ id }) => id,
  "group-name": ({ name }) => name,
  "vpc-id": ({ vpcId }) => vpcId,
};

export function describeSecurityGroups(world: FakeAwsState, request: DescribeSecurityGroupsRequest): DescribeSecurityGroupsResult {
  const { GroupIds: ids = [], GroupNames: names = [] } = request;
  const unknown = ids.filter((id) => !world.securityGroups.has(id));
  if (unknown.length > 0) throw notFound("Group", "security group", unknown);
  const all = [...world.securityGroups.values()];
  const unnamed = names.filter((name) => !all.some((group) => group.name === name));
  if (unnamed.length > 0) throw notFound("Group", "security group", unnamed);
  const named = all.filter(({ id, name }) => (ids.length === 0 || ids.includes(id)) && (names.length === 0 || names.includes(name)));
  const { items, next } = page(select(named, request.Filters, GROUP_FACETS), request, { min: 5, max: 1000 });
  return {
    SecurityGroups: items.map((group) => ({
      GroupId: group.id,
      GroupName: group.name,
      Description: group.name,
      OwnerId: world.account,
      VpcId: group.vpcId,
      IpPermissions: [],
      IpPermissionsEgress: [],
      Tags: tagList(group.tags),
    })),
    ...(next === undefined ? {} : { NextToken: next }),
  };
}

type Zone = FakeZone & { readonly tags?: never };

export function describeAvailabilityZones(world: FakeAwsState, request: DescribeAvailabilityZonesRequest): DescribeAvailabilityZonesResult {
  const { zones } = world.options.catalogue;
  const { ZoneNames: names = [], ZoneIds: ids = [] } = request;
  for (const name of names) {
    if (!zones.some((zone) => zone.name === name)) throw new AwsError("InvalidParameterValue", `Invalid availability zone: [${name}]`);
  }
  const named = zones.filter(
    ({ name, zoneId }) => (names.length === 0 || names.includes(name)) && (ids.length === 0 || ids.includes(zoneId)),
  );
  const facets: Facets<Zone> = {
    "zone-name": ({ name }) => name,
    "zone-id": ({ zoneId }) => zoneId,
    "zone-type": () => "availability-zone",
    "region-name": () => world.region,
    state: () => "available",
    "opt-in-status": () => "opt-in-not-required",
    "group-name": () => world.region,
  };
  return {
    AvailabilityZones: select<Zone>(named, request.Filters, facets).map(({ name, zoneId }) => ({
      ZoneName: name,
      ZoneId: zoneId,
      RegionName: world.region,
      GroupName: world.region,
      NetworkBorderGroup: world.region,
      ZoneType: "availability-zone",
      State: "available",
      OptInStatus: "opt-in-not-required",
      Messages: [],
    })),
  };
}
