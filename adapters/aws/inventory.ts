import {
  DescribeAvailabilityZonesCommand,
  DescribeImagesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  type EC2Client,
} from "@aws-sdk/client-ec2";
import type { IAMClient } from "@aws-sdk/client-iam";
import type { PricingClient } from "@aws-sdk/client-pricing";
import { GetParameterCommand, type SSMClient } from "@aws-sdk/client-ssm";
import type { CloudInventory, Image, InstanceTypeRecord, Subnet } from "#core/ports/cloud-inventory.ts";
import { capacityReservations, placementGroup } from "./capacity.ts";
import { isNotFound, toDomainError } from "./errors.ts";
import { ensureInstanceProfile, listInstanceProfiles, removeInstanceProfile } from "./instance-profile.ts";
import { allPages } from "./pages.ts";
import { onDemandInstances, reservedInstances } from "./paid-capacity.ts";
import { onDemandPrices, spotPrices } from "./prices.ts";
import { imageQueries, queriesFor } from "./selectors.ts";

interface InventoryClients {
  readonly ec2: EC2Client;
  readonly ssm: SSMClient;
  readonly pricing: PricingClient;
  readonly iam: IAMClient;
}

/** The selector terms of an EC2NodeClass that a method of the port takes. */
type Terms<Method extends "subnets" | "securityGroups" | "images"> = Parameters<CloudInventory[Method]>[0];

/**
 * The port CloudInventory: what the clients' account and region offer (subnets, security groups, images, reservations,
 * placement groups, instance profiles, instance types, zones and prices).
 */
export function awsInventory(clients: InventoryClients): CloudInventory {
  const { ec2, ssm, pricing, iam } = clients;
  return {
    parameter: (name) => parameter(ssm, name),
    subnets: (terms) => subnets(ec2, terms),
    securityGroups: (terms) => securityGroups(ec2, terms),
    capacityReservations: (terms) => capacityReservations(ec2, terms),
    placementGroup: (selector) => placementGroup(ec2, selector),
    images: (terms) => images(clients, terms),
    ensureInstanceProfile: (profile) => ensureInstanceProfile(iam, profile),
    removeInstanceProfile: (name) => removeInstanceProfile(iam, name),
    instanceProfiles: (path) => listInstanceProfiles(iam, path),
    instanceTypes: () => instanceTypes(ec2),
    instanceTypeZones: () => instanceTypeZones(ec2),
    reservedInstances: () => reservedInstances(ec2),
    onDemandInstances: (families) => onDemandInstances(ec2, families),
    zones: () => zones(ec2),
    onDemandPrices: async () => onDemandPrices(pricing, await ec2.config.region()),
    spotPrices: () => spotPrices(ec2),
  };
}

async function parameter(ssm: SSMClient, name: string): Promise<string | undefined> {
  try {
    return (await ssm.send(new GetParameterCommand({ Name: name }))).Parameter?.Value;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw toDomainError(error);
  }
}

async function subnets(ec2: EC2Client, terms: Terms<"subnets">): Promise<readonly Subnet[]> {
  const found = new Map<string, Subnet>();
  for (const { filters } of queriesFor(terms, { id: "subnet-id" })) {
    const subnets = await allPages(
      (NextToken) => ec2.send(new DescribeSubnetsCommand({ Filters: [...filters], MaxResults: 500, NextToken })),
      (page) => page.Subnets,
      (page) => page.NextToken,
    );
    for (const { SubnetId: id, AvailabilityZone: zone = "", AvailabilityZoneId: zoneId = "", AvailableIpAddressCount = 0 } of subnets) {
      if (id !== undefined) found.set(id, { id, zone, zoneId, availableIps: AvailableIpAddressCount });
    }
  }
  return [...found.values()];
}

async function securityGroups(ec2: EC2Client, terms: Terms<"securityGroups">): ReturnType<CloudInventory["securityGroups"]> {
  const found = new Map<string, { readonly id: string; readonly name: string }>();
  for (const { filters } of queriesFor(terms, { id: "group-id", name: "group-name" })) {
    const groups = await allPages(
      (NextToken) => ec2.send(new DescribeSecurityGroupsCommand({ Filters: [...filters], MaxResults: 500, NextToken })),
      (page) => page.SecurityGroups,
      (page) => page.NextToken,
    );
    for (const { GroupId: id, GroupName: name = "" } of groups) if (id !== undefined) found.set(id, { id, name });
  }
  return [...found.values()];
}

async function images({ ec2, ssm }: InventoryClients, terms: Terms<"images">): Promise<readonly Image[]> {
  const parameters = terms.flatMap(({ id, ssmParameter }) => (id === undefined && ssmParameter !== undefined ? ssmParameter : []));
  const values = (await Promise.all(parameters.map((name) => parameter(ssm, name)))).filter((value) => value?.startsWith("ami-"));
  const found = new Map<string, Image>();
  for (const { filters, owners } of imageQueries(terms, values as string[])) {
    const images = await allPages(
      (NextToken) =>
        ec2.send(
          new DescribeImagesCommand({
            Filters: [...filters, { Name: "state", Values: ["available"] }],
            IncludeDeprecated: true,
            MaxResults: 1000,
            NextToken,
            ...(owners && { Owners: [...owners] }),
          }),
        ),
      (page) => page.Images,
      (page) => page.NextToken,
    );
    for (const { ImageId: id, Name: name = "", Architecture: architecture = "", CreationDate = "", DeprecationTime } of images) {
      if (id === undefined) continue;
      found.set(id, {
        id,
        name,
        architecture,
        creationDate: CreationDate,
        ...(DeprecationTime && { deprecationTime: DeprecationTime }),
      });
    }
  }
  return [...found.values()];
}

async function instanceTypes(ec2: EC2Client): Promise<readonly InstanceTypeRecord[]> {
  const types = await allPages(
    (NextToken) =>
      ec2.send(
        new DescribeInstanceTypesCommand({
          Filters: [
            { Name: "supported-virtualization-type", Values: ["hvm"] },
            { Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] },
          ],
          MaxResults: 100,
          NextToken,
        }),
      ),
    (page) => page.InstanceTypes,
    (page) => page.NextToken,
  );
  return types.filter((type) => type.InstanceType !== undefined) as unknown as readonly InstanceTypeRecord[];
}

async function instanceTypeZones(ec2: EC2Client): ReturnType<CloudInventory["instanceTypeZones"]> {
  const offerings = await allPages(
    (NextToken) => ec2.send(new DescribeInstanceTypeOfferingsCommand({ LocationType: "availability-zone", MaxResults: 1000, NextToken })),
    (page) => page.InstanceTypeOfferings,
    (page) => page.NextToken,
  );
  const zones: Record<string, string[]> = {};
  for (const { InstanceType, Location } of offerings) {
    if (InstanceType === undefined || Location === undefined) continue;
    zones[InstanceType] = [...(zones[InstanceType] ?? []), Location];
  }
  return zones;
}

async function zones(ec2: EC2Client): ReturnType<CloudInventory["zones"]> {
  try {
    const { AvailabilityZones = [] } = await ec2.send(
      new DescribeAvailabilityZonesCommand({ Filters: [{ Name: "zone-type", Values: ["availability-zone"] }] }),
    );
    return AvailabilityZones.flatMap(({ ZoneName, ZoneId = "" }) => (ZoneName === undefined ? [] : [{ name: ZoneName, zoneId: ZoneId }]));
  } catch (error) {
    throw toDomainError(error);
  }
}
