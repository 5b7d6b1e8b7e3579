import {
  CreateLaunchTemplateCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type Instance,
  type InstanceStateName,
  type RequestLaunchTemplateData,
  type Subnet,
} from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { AddRoleToInstanceProfileCommand, CreateInstanceProfileCommand, IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SSMClient } from "@aws-sdk/client-ssm";

/** The address of a target, and what it has when the suite begins. */
export type Target = {
  readonly url: string;
  readonly roleName: string;
  readonly clusterName: string;
  readonly kubernetesVersion: string;
  /** Passes time. */
  readonly pass: (ms: number) => Promise<void> | void;
  readonly close: () => Promise<void>;
};

/** The clients and existing resources of a target, which every check may use. */
export type ContractWorld = {
  readonly target: Target;
  readonly ec2: EC2Client;
  readonly ssm: SSMClient;
  readonly iam: IAMClient;
  readonly pricing: PricingClient;
  readonly eks: EKSClient;
  readonly subnets: readonly (Subnet & { SubnetId: string; AvailabilityZone: string })[];
  readonly groupId: string;
  /** An x86_64 image. */
  readonly imageId: string;
  readonly profile: string;
  /** A name that is unique within the run. */
  unique(stem: string): string;
};

export const REGION = "us-west-2";

/** Connects to a target with one attempt per call, so that a check sees the error and not the SDK's retry. */
export async function connect(target: Target): Promise<ContractWorld> {
  const config = {
    region: REGION,
    endpoint: target.url,
    credentials: { accessKeyId: "AKIACONTRACTSUITE000", secretAccessKey: "secret" },
    maxAttempts: 1,
  };
  const ec2 = new EC2Client(config);
  const run = process.pid.toString(36) + Date.now().toString(36);
  let names = 0;
  const found: ContractWorld = {
    target,
    ec2,
    ssm: new SSMClient(config),
    iam: new IAMClient(config),
    pricing: new PricingClient(config),
    eks: new EKSClient(config),
    subnets: [],
    groupId: "",
    imageId: "",
    profile: "",
    unique(stem) {
      names += 1;
      return `${stem}-${run}-${names}`;
    },
  };
  const subnets = (await ec2.send(new DescribeSubnetsCommand({}))).Subnets ?? [];
  const groups = (await ec2.send(new DescribeSecurityGroupsCommand({}))).SecurityGroups ?? [];
  const images =
    (
      await ec2.send(
        new DescribeImagesCommand({
          Filters: [
            { Name: "architecture", Values: ["x86_64"] },
            { Name: "state", Values: ["available"] },
          ],
        }),
      )
    ).Images ?? [];
  const profile = found.unique("contract");
  await found.iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: profile, Path: "/contract/" }));
  await found.iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: profile, RoleName: target.roleName }));
  return {
    ...found,
    subnets: subnets.flatMap((subnet) =>
      subnet.SubnetId && subnet.AvailabilityZone
        ? [{ ...subnet, SubnetId: subnet.SubnetId, AvailabilityZone: subnet.AvailabilityZone }]
        : [],
    ),
    groupId: groups.find(({ GroupName, VpcId }) => GroupName === "default" && VpcId === subnets[0]?.VpcId)?.GroupId ?? "",
    imageId: images.find(({ Platform }) => Platform === undefined)?.ImageId ?? "",
    profile,
  };
}

/** Creates a launch template as the product does. */
export async function makeTemplate(world: ContractWorld, data: RequestLaunchTemplateData = {}): Promise<string> {
  const name = world.unique("karpenter.k8s.aws/contract");
  await world.ec2.send(
    new CreateLaunchTemplateCommand({
      LaunchTemplateName: name,
      LaunchTemplateData: {
        ImageId: world.imageId,
        UserData: Buffer.from("#!/bin/bash\necho hello\n").toString("base64"),
        IamInstanceProfile: { Name: world.profile },
        MetadataOptions: { HttpTokens: "required", HttpPutResponseHopLimit: 1, HttpEndpoint: "enabled", InstanceMetadataTags: "disabled" },
        NetworkInterfaces: [{ DeviceIndex: 0, Groups: [world.groupId] }],
        BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { VolumeSize: 20, VolumeType: "gp3", Encrypted: true } }],
        TagSpecifications: [{ ResourceType: "network-interface", Tags: [{ Key: "from", Value: "template" }] }],
        ...data,
      },
      TagSpecifications: [{ ResourceType: "launch-template", Tags: [{ Key: "eks:eks-cluster-name", Value: "contract" }] }],
    }),
  );
  return name;
}

export async function instanceOf(world: ContractWorld, id: string): Promise<Instance> {
  const { Reservations = [] } = await world.ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
  const instance = Reservations[0]?.Instances?.[0];
  if (!instance) throw new Error(`DescribeInstances answered without ${id}`);
  return instance;
}

/** Passes time until the instance is in this state; fails after ten seconds of the target's time. */
export async function until(world: ContractWorld, id: string, state: InstanceStateName): Promise<Instance> {
  for (let i = 0; i < 40; i += 1) {
    const instance = await instanceOf(world, id);
    if (instance.State?.Name === state) return instance;
    await world.target.pass(250);
  }
  throw new Error(`${id} did not turn ${state}`);
}
