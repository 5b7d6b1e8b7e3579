import type { RequestLaunchTemplateData, ResourceType } from "@aws-sdk/client-ec2";
import type { LaunchTemplate } from "../../../core/model/record.ts";

/** Regions whose EC2 refuses the field HttpProtocolIpv6 (launch.md §3). */
const WITHOUT_IPV6_METADATA = new Set([
  "us-iso-east-1",
  "us-iso-west-1",
  "us-isob-east-1",
  "us-isob-west-1",
  "us-isof-south-1",
  "us-isof-east-1",
]);

/** EC2's form of a template (launch.md §3). */
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
    ...(template.tenancy && { Placement: { Tenancy: template.tenancy } }),
    TagSpecifications: resources.map((ResourceType) => ({ ResourceType, Tags: toTags(tags) })),
  };
}

/** Into this reservation and nowhere else, or into none. */
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

/** Always given, since security groups and public addresses can then only be told here. */
function networkInterfaces({ efaInterfaces = 0, securityGroupIds, associatePublicIPAddress }: LaunchTemplate) {
  const groups = { Groups: [...securityGroupIds] };
  if (efaInterfaces === 0) {
    return [
      { DeviceIndex: 0, ...groups, ...(associatePublicIPAddress !== undefined && { AssociatePublicIpAddress: associatePublicIPAddress }) },
    ];
  }
  return Array.from({ length: efaInterfaces }, (_, card) => ({
    NetworkCardIndex: card,
    DeviceIndex: card === 0 ? 0 : 1,
    InterfaceType: "efa",
    ...groups,
  }));
}

export function toTags(tags: Readonly<Record<string, string>>): { readonly Key: string; readonly Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
