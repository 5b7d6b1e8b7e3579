import type { RequestLaunchTemplateData, ResourceType } from "@aws-sdk/client-ec2";
import type { LaunchTemplate } from "#core/model/fleet.ts";

/** Regions whose EC2 refuses the field HttpProtocolIpv6. */
const WITHOUT_IPV6_METADATA = new Set([
  "us-iso-east-1",
  "us-iso-west-1",
  "us-isob-east-1",
  "us-isob-west-1",
  "us-isof-south-1",
  "us-isof-east-1",
]);

/**
 * A launch template in EC2's form
 * (karpenter-provider-aws: pkg/providers/launchtemplate/launchtemplate.go, DefaultProvider.createLaunchTemplate).
 */
export function launchTemplateData(template: LaunchTemplate, region: string): RequestLaunchTemplateData {
  const { metadataOptions, tags } = template;
  const resources: ResourceType[] = [
    "network-interface",
    ...(template.capacityType === "spot" ? (["spot-instances-request"] as const) : []),
  ];
  return {
    ImageId: template.imageId,
    ...(template.userData !== "" && { UserData: Buffer.from(template.userData, "utf8").toString("base64") }),
    ...(template.instanceProfile !== "" && { IamInstanceProfile: { Name: template.instanceProfile } }),
    ...(template.blockDeviceMappings.length > 0 && { BlockDeviceMappings: template.blockDeviceMappings.map(blockDevice) }),
    MetadataOptions: {
      HttpEndpoint: metadataOptions.httpEndpoint as "enabled",
      ...(!WITHOUT_IPV6_METADATA.has(region) && { HttpProtocolIpv6: metadataOptions.httpProtocolIPv6 as "disabled" }),
      HttpPutResponseHopLimit: metadataOptions.httpPutResponseHopLimit,
      HttpTokens: metadataOptions.httpTokens as "required",
      InstanceMetadataTags: "disabled",
    },
    Monitoring: { Enabled: template.detailedMonitoring },
    NetworkInterfaces: networkInterfaces(template),
    ...reservationFields(template),
    ...(template.nestedVirtualization && { CpuOptions: { NestedVirtualization: template.nestedVirtualization } }),
    ...(template.enclaves && { EnclaveOptions: { Enabled: true } }),
    ...placementFields(template),
    TagSpecifications: resources.map((ResourceType) => ({ ResourceType, Tags: toTags(tags) })),
  };
}

/** Launches into this capacity reservation only, or into none. */
function reservationFields({ reservation }: LaunchTemplate): RequestLaunchTemplateData {
  if (reservation === undefined) return {};
  if (reservation === "none") return { CapacityReservationSpecification: { CapacityReservationPreference: "none" } };
  const { id, type, interruptible } = reservation;
  const market = type === "capacity-block" ? type : interruptible ? ("interruptible-capacity-reservation" as const) : undefined;
  return {
    CapacityReservationSpecification: {
      CapacityReservationPreference: "capacity-reservations-only",
      CapacityReservationTarget: { CapacityReservationId: id },
    },
    ...(market && { InstanceMarketOptions: { MarketType: market } }),
  };
}

function blockDevice({ deviceName, ebs }: LaunchTemplate["blockDeviceMappings"][number]) {
  return {
    ...(deviceName !== undefined && { DeviceName: deviceName }),
    Ebs: {
      DeleteOnTermination: ebs.deleteOnTermination,
      Encrypted: ebs.encrypted,
      Iops: ebs.iops,
      KmsKeyId: ebs.kmsKeyId,
      SnapshotId: ebs.snapshotId,
      Throughput: ebs.throughput,
      VolumeInitializationRate: ebs.volumeInitializationRate,
      VolumeSize: ebs.volumeSize,
      VolumeType: ebs.volumeType as "gp3" | undefined,
    },
  };
}

function placementFields({ tenancy, placement }: LaunchTemplate): Pick<RequestLaunchTemplateData, "Placement"> {
  if (tenancy === undefined && placement === undefined) return {};
  return {
    Placement: {
      ...(tenancy && { Tenancy: tenancy }),
      ...(placement && { GroupId: placement.groupId }),
      ...(placement?.partition !== undefined && { PartitionNumber: placement.partition }),
    },
  };
}

const PRIMARY = { card: 0, device: 0, type: "interface" } as const;

/**
 * Network interfaces are always given, because security groups and public addresses can then only be set here.
 * Interfaces of type efa-only have no addresses.
 */
function networkInterfaces(template: LaunchTemplate): NonNullable<RequestLaunchTemplateData["NetworkInterfaces"]> {
  const { securityGroupIds, connectionTracking, networkInterfaces: listed = [PRIMARY] } = template;
  return listed.map(({ card, device, type }) => ({
    ...(card > 0 && { NetworkCardIndex: card }),
    DeviceIndex: device,
    ...(type !== "interface" && { InterfaceType: type }),
    Groups: [...securityGroupIds],
    ...(type !== "efa-only" && {
      ...(connectionTracking && {
        ConnectionTrackingSpecification: {
          TcpEstablishedTimeout: connectionTracking.tcpEstablishedTimeout,
          UdpStreamTimeout: connectionTracking.udpStreamTimeout,
          UdpTimeout: connectionTracking.udpTimeout,
        },
      }),
      ...(card === 0 && device === 0 && addresses(template)),
    }),
  }));
}

/** The addresses of the primary interface. */
function addresses({ networkInterfaces = [], associatePublicIPAddress, ipPrefixCount, ipv6 }: LaunchTemplate) {
  // EC2 gives an instance with several interfaces no public address, and refuses the field for it.
  const implied = associatePublicIPAddress === false && networkInterfaces.length > 1;
  return {
    ...(associatePublicIPAddress !== undefined && !implied && { AssociatePublicIpAddress: associatePublicIPAddress }),
    ...(ipv6 ? { PrimaryIpv6: true, Ipv6AddressCount: 1 } : {}),
    ...(ipPrefixCount && (ipv6 ? { Ipv6PrefixCount: ipPrefixCount } : { Ipv4PrefixCount: ipPrefixCount })),
  };
}

export function toTags(tags: Readonly<Record<string, string>>): { readonly Key: string; readonly Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
