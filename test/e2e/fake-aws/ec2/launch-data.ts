import type { FleetLaunchTemplateOverridesRequest, RequestLaunchTemplateData, RunInstancesRequest } from "@aws-sdk/client-ec2";
import { AwsError, missing, notFound } from "../errors.ts";
import type { FakeAwsState, FakeLaunchTemplate, FakeSubnet } from "../world.ts";

const MAX_USER_DATA_BYTES = 16_384;

/** The merged launch parameters of one pool. */
export type LaunchPlan = {
  readonly data: RequestLaunchTemplateData;
  readonly instanceType: string;
  readonly subnet: FakeSubnet;
  readonly imageId: string;
  readonly securityGroupIds: readonly string[];
  readonly userData: string;
};

/** The template and version that a specification names. Throws NotFound as EC2 does, by name or by id. */
export function templateOf(
  world: FakeAwsState,
  spec: { LaunchTemplateId?: string | undefined; LaunchTemplateName?: string | undefined; Version?: string | undefined },
): { readonly template: FakeLaunchTemplate; readonly version: number; readonly data: RequestLaunchTemplateData } {
  const { LaunchTemplateId: id, LaunchTemplateName: name } = spec;
  const template =
    id === undefined ? [...world.launchTemplates.values()].find((known) => known.name === name) : world.launchTemplates.get(id);
  if (!template) {
    throw id === undefined
      ? new AwsError(
          "InvalidLaunchTemplateName.NotFoundException",
          `The specified launch template, with template name ${name}, does not exist.`,
        )
      : new AwsError("InvalidLaunchTemplateId.NotFound", `The specified launch template, with template ID ${id}, does not exist.`);
  }
  // Default means the first version, because no action here changes a template's default.
  const wanted = spec.Version ?? "$Default";
  const version = wanted === "$Latest" ? template.versions.length : wanted === "$Default" ? 1 : Number(wanted);
  const data = template.versions[version - 1];
  if (!data) {
    throw new AwsError(
      "InvalidLaunchTemplateId.VersionNotFound",
      `Could not find launch template version ${wanted} for the launch template with ID ${template.id}.`,
    );
  }
  return { template, version, data };
}

/** Decoded user data. Throws InvalidUserData.Malformed for bad base64 and for more than 16,384 bytes. */
export function decodeUserData(encoded: string | undefined): string {
  if (encoded === undefined || encoded === "") return "";
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== encoded.replace(/\s|=+$/g, "")) {
    throw new AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data");
  }
  if (bytes.length > MAX_USER_DATA_BYTES) throw new AwsError("InvalidUserData.Malformed", "User data is limited to 16384 bytes");
  return bytes.toString("utf8");
}

/** A template's data with an override on top. */
export function withOverride(data: RequestLaunchTemplateData, override: FleetLaunchTemplateOverridesRequest): RequestLaunchTemplateData {
  return {
    ...data,
    ...(override.InstanceType ? { InstanceType: override.InstanceType } : {}),
    ...(override.ImageId ? { ImageId: override.ImageId } : {}),
    ...(override.BlockDeviceMappings ? { BlockDeviceMappings: override.BlockDeviceMappings } : {}),
  };
}

/** A RunInstances request in the shape of a template's data, laid over the template that it names. */
export function runData(world: FakeAwsState, request: RunInstancesRequest): RequestLaunchTemplateData {
  const spec = request.LaunchTemplate;
  const base = spec ? templateOf(world, spec).data : {};
  if (request.SubnetId !== undefined && (request.NetworkInterfaces ?? base.NetworkInterfaces ?? []).length > 0) {
    throw new AwsError(
      "InvalidParameterCombination",
      "Network interfaces and an instance-level subnet ID may not be specified on the same request",
    );
  }
  const { MinCount, MaxCount, DryRun, ClientToken, LaunchTemplate, SubnetId, TagSpecifications, ...own } = request;
  return {
    ...base,
    ...(own as RequestLaunchTemplateData),
    ...(TagSpecifications ? { TagSpecifications: [...(base.TagSpecifications ?? []), ...TagSpecifications] } : {}),
  };
}

/**
 * Checks that EC2 can launch this, except for capacity; the error is that of RunInstances or of a fleet's error set.
 */
export function planLaunch(
  world: FakeAwsState,
  data: RequestLaunchTemplateData,
  where: { readonly subnetId: string | undefined; readonly zone: string | undefined },
  caller: "fleet" | "run",
): LaunchPlan {
  const instanceType = data.InstanceType ?? (caller === "run" ? "m1.small" : undefined);
  if (!instanceType) throw missing("InstanceType");
  const type = world.types.get(instanceType);
  if (!type) throw new AwsError("InvalidParameterValue", `Invalid value '${instanceType}' for InstanceType.`);

  const network = data.NetworkInterfaces?.[0];
  const subnetId = where.subnetId ?? network?.SubnetId ?? firstSubnet(world, where.zone)?.id;
  const subnet = subnetId === undefined ? undefined : world.subnets.get(subnetId);
  if (!subnet) throw notFound("SubnetID", "subnet ID", [subnetId ?? where.zone ?? ""]);
  if (where.zone !== undefined && where.zone !== subnet.zone) {
    throw new AwsError("InvalidParameterValue", `The subnet '${subnet.id}' is not in the Availability Zone '${where.zone}'.`);
  }
  const offered = world.options.catalogue.offerings[instanceType] ?? [];
  if (!offered.includes(subnet.zone)) {
    const message = `Your requested instance type (${instanceType}) is not supported in your requested Availability Zone (${subnet.zone}).`;
    throw caller === "fleet"
      ? new AwsError("InvalidFleetConfiguration", message)
      : new AwsError(
          "Unsupported",
          `${message} Please retry your request by not specifying an Availability Zone or choosing ${offered.join(", ")}.`,
        );
  }

  if (!data.ImageId) throw missing("ImageId");
  const image = world.images.get(data.ImageId);
  if (!image) throw new AwsError("InvalidAMIID.NotFound", `The image id '[${data.ImageId}]' does not exist`);
  const architectures: readonly string[] = type.ProcessorInfo?.SupportedArchitectures ?? [];
  if (!architectures.includes(image.architecture)) {
    throw new AwsError(
      "InvalidParameterValue",
      `The architecture '${architectures.join(",")}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.`,
    );
  }

  const securityGroupIds = groupsOf(world, data, subnet);
  checkProfile(world, data);
  return { data, instanceType, subnet, imageId: data.ImageId, securityGroupIds, userData: decodeUserData(data.UserData) };
}

const firstSubnet = (world: FakeAwsState, zone: string | undefined): FakeSubnet | undefined =>
  [...world.subnets.values()].find((subnet) => zone === undefined || subnet.zone === zone);

function groupsOf(world: FakeAwsState, data: RequestLaunchTemplateData, subnet: FakeSubnet): readonly string[] {
  const network = data.NetworkInterfaces?.[0];
  if (network && (data.SecurityGroupIds?.length ?? 0) > 0) {
    throw new AwsError(
      "InvalidParameterCombination",
      "Network interfaces and an instance-level security groups may not be specified on the same request",
    );
  }
  const asked = network?.Groups ?? data.SecurityGroupIds ?? [];
  const fallback = [...world.securityGroups.values()].find(({ name, vpcId }) => name === "default" && vpcId === subnet.vpcId);
  const ids = asked.length > 0 || !fallback ? asked : [fallback.id];
  for (const id of ids) {
    const group = world.securityGroups.get(id);
    if (!group) throw notFound("Group", "security group", [id]);
    if (group.vpcId !== subnet.vpcId) {
      throw new AwsError("InvalidParameter", `Security group ${id} and subnet ${subnet.id} belong to different networks.`);
    }
  }
  return ids;
}

function checkProfile(world: FakeAwsState, data: RequestLaunchTemplateData): void {
  const asked = data.IamInstanceProfile;
  const name = asked?.Name ?? asked?.Arn?.split("/").at(-1);
  if (name === undefined) return;
  const profile = world.instanceProfiles.get(name);
  const visibleAt = (profile?.createdAt ?? 0) + (world.options.profileVisibleAfterMs ?? 0);
  if (!profile || visibleAt > world.clock.now()) {
    throw new AwsError(
      "InvalidParameterValue",
      `Value (${name}) for parameter iamInstanceProfile.${asked?.Name === undefined ? "arn" : "name"} is invalid. Invalid IAM Instance Profile ${asked?.Name === undefined ? "ARN" : "name"}`,
    );
  }
  if (profile.role === undefined) {
    throw new AwsError("InvalidParameterValue", `IAM Instance Profile "${arnOfProfile(world, name)}" has no associated IAM Roles`);
  }
}

export const arnOfProfile = (world: FakeAwsState, name: string): string =>
  `arn:aws:iam::${world.account}:instance-profile${world.instanceProfiles.get(name)?.path ?? "/"}${name}`;
