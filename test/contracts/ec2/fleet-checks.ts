import assert from "node:assert/strict";
import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  type CreateFleetCommandOutput,
  DescribeInstancesCommand,
  type FleetLaunchTemplateOverridesRequest,
} from "@aws-sdk/client-ec2";
import { present, refused } from "./assertions.ts";
import type { Check } from "./contract.ts";
import { type ContractWorld, instanceOf, makeTemplate } from "./world.ts";

type Ask = {
  readonly template?: string;
  readonly count?: number;
  readonly capacityType?: "on-demand" | "spot";
  readonly token?: string;
  readonly dryRun?: boolean;
  readonly overrides?: FleetLaunchTemplateOverridesRequest[];
};

/** A CreateFleet request as the product sends it. */
async function request(world: ContractWorld, ask: Ask = {}): Promise<CreateFleetCommandInput> {
  const [subnet] = world.subnets;
  const where = present(subnet, "a subnet");
  const capacityType = ask.capacityType ?? "on-demand";
  return {
    Type: "instant",
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: ask.template ?? (await makeTemplate(world)), Version: "$Latest" },
        Overrides: ask.overrides ?? [
          { InstanceType: "m5.large", SubnetId: where.SubnetId, AvailabilityZone: where.AvailabilityZone, Priority: 0.096 },
        ],
      },
    ],
    TargetCapacitySpecification: { TotalTargetCapacity: ask.count ?? 1, DefaultTargetCapacityType: capacityType },
    ...(capacityType === "spot"
      ? { SpotOptions: { AllocationStrategy: "price-capacity-optimized" } }
      : { OnDemandOptions: { AllocationStrategy: "lowest-price" } }),
    TagSpecifications: [
      {
        ResourceType: "instance",
        Tags: [
          { Key: "karpenter.sh/nodepool", Value: "default" },
          { Key: "karpenter.sh/nodeclaim", Value: "default-abcde" },
        ],
      },
      { ResourceType: "fleet", Tags: [{ Key: "karpenter.sh/nodepool", Value: "default" }] },
    ],
    ...(ask.token === undefined ? {} : { ClientToken: ask.token }),
    ...(ask.dryRun ? { DryRun: true } : {}),
  };
}

const create = async (world: ContractWorld, ask: Ask = {}): Promise<CreateFleetCommandOutput> =>
  world.ec2.send(new CreateFleetCommand(await request(world, ask)));

const idsOf = ({ Instances = [] }: CreateFleetCommandOutput): string[] => Instances.flatMap(({ InstanceIds = [] }) => InstanceIds);

async function countByToken(world: ContractWorld, pool: string): Promise<number> {
  const { Reservations = [] } = await world.ec2.send(
    new DescribeInstancesCommand({ Filters: [{ Name: "tag:karpenter.sh/nodeclaim", Values: [pool] }] }),
  );
  return Reservations.flatMap(({ Instances = [] }) => Instances).length;
}

export const fleetChecks: readonly Check[] = [
  {
    name: "an instant fleet answers with the instance it launched, its type, lifecycle and zone's subnet",
    async run(world) {
      const answer = await create(world);
      assert.match(present(answer.FleetId, "FleetId"), /^fleet-/);
      const [instance] = present(answer.Instances, "Instances");
      assert.equal(instance?.InstanceType, "m5.large");
      assert.equal(instance?.Lifecycle, "on-demand");
      assert.equal(instance?.LaunchTemplateAndOverrides?.Overrides?.SubnetId, world.subnets[0]?.SubnetId);
      assert.match(idsOf(answer)[0] ?? "", /^i-[0-9a-f]{17}$/);
      assert.deepEqual(answer.Errors ?? [], []);
    },
  },
  {
    name: "a fleet of three launches three instances",
    async run(world) {
      assert.equal(new Set(idsOf(await create(world, { count: 3 }))).size, 3);
    },
  },
  {
    name: "a fleet's instance carries the tags that the request gave",
    async run(world) {
      const [id = ""] = idsOf(await create(world));
      const tags = Object.fromEntries((await instanceOf(world, id)).Tags?.map(({ Key = "", Value }) => [Key, Value]) ?? []);
      assert.equal(tags["karpenter.sh/nodepool"], "default");
      assert.equal(tags["karpenter.sh/nodeclaim"], "default-abcde");
    },
  },
  {
    name: "a fleet's instance has the template's image and the override's subnet and zone",
    async run(world) {
      const [id = ""] = idsOf(await create(world));
      const instance = await instanceOf(world, id);
      assert.equal(instance.ImageId, world.imageId);
      assert.equal(instance.SubnetId, world.subnets[0]?.SubnetId);
      assert.equal(instance.Placement?.AvailabilityZone, world.subnets[0]?.AvailabilityZone);
    },
  },
  {
    name: "a fleet's instance has the template's security groups",
    async run(world) {
      const [id = ""] = idsOf(await create(world));
      assert.deepEqual(
        (await instanceOf(world, id)).SecurityGroups?.map(({ GroupId }) => GroupId),
        [world.groupId],
      );
    },
  },
  {
    name: "a fleet's instance has the template's metadata options",
    async run(world) {
      const [id = ""] = idsOf(await create(world));
      assert.equal((await instanceOf(world, id)).MetadataOptions?.HttpTokens, "required");
    },
  },
  {
    name: "a fleet's instance has the template's instance profile",
    async run(world) {
      const [id = ""] = idsOf(await create(world));
      assert.match((await instanceOf(world, id)).IamInstanceProfile?.Arn ?? "", new RegExp(`/contract/${world.profile}$`));
    },
  },
  {
    name: "a spot fleet's instance says spot and names its spot request",
    async run(world) {
      const answer = await create(world, { capacityType: "spot" });
      assert.equal(answer.Instances?.[0]?.Lifecycle, "spot");
      const instance = await instanceOf(world, idsOf(answer)[0] ?? "");
      assert.equal(instance.InstanceLifecycle, "spot");
      assert.match(present(instance.SpotInstanceRequestId, "SpotInstanceRequestId"), /^sir-/);
    },
  },
  {
    name: "an on-demand fleet takes the cheapest of its overrides",
    async run(world) {
      const SubnetId = present(world.subnets[0]?.SubnetId, "a subnet");
      const overrides: FleetLaunchTemplateOverridesRequest[] = [
        { InstanceType: "m5.xlarge", SubnetId },
        { InstanceType: "c5.large", SubnetId },
        { InstanceType: "r5.large", SubnetId },
      ];
      assert.equal((await create(world, { overrides })).Instances?.[0]?.InstanceType, "c5.large");
    },
  },
  {
    name: "the same client token and parameters give the same instances and launch nothing more",
    async run(world) {
      const pool = world.unique("claim");
      const input = await request(world, { token: world.unique("token") });
      input.TagSpecifications = [{ ResourceType: "instance", Tags: [{ Key: "karpenter.sh/nodeclaim", Value: pool }] }];
      const first = await world.ec2.send(new CreateFleetCommand(input));
      const second = await world.ec2.send(new CreateFleetCommand(input));
      assert.deepEqual(idsOf(second), idsOf(first));
      assert.equal(second.FleetId, first.FleetId);
      assert.equal(await countByToken(world, pool), 1);
    },
  },
  {
    name: "the same client token with other parameters is refused",
    async run(world) {
      const input = await request(world, { token: world.unique("token") });
      await world.ec2.send(new CreateFleetCommand(input));
      const changed = { ...input, TargetCapacitySpecification: { ...input.TargetCapacitySpecification, TotalTargetCapacity: 2 } };
      await refused(world.ec2.send(new CreateFleetCommand(changed)), "IdempotentParameterMismatch");
    },
  },
  {
    name: "a dry run of a fleet is refused with DryRunOperation and status 412",
    async run(world) {
      const error = await create(world, { dryRun: true }).then(
        () => undefined,
        (caught: { name: string; $metadata?: { httpStatusCode?: number } }) => caught,
      );
      assert.equal(error?.name, "DryRunOperation");
      assert.equal(error?.$metadata?.httpStatusCode, 412);
    },
  },
  {
    name: "a fleet whose launch template does not exist is refused as a whole",
    async run(world) {
      await refused(create(world, { template: world.unique("absent") }), "InvalidLaunchTemplateName.NotFoundException");
    },
  },
  {
    name: "a fleet with a bad subnet lists the error and does not fail",
    async run(world) {
      const answer = await create(world, { overrides: [{ InstanceType: "m5.large", SubnetId: "subnet-0badbadbadbadbad0" }] });
      assert.deepEqual(idsOf(answer), []);
      assert.equal(answer.Errors?.[0]?.ErrorCode, "InvalidSubnetID.NotFound");
      assert.equal(answer.Errors?.[0]?.LaunchTemplateAndOverrides?.Overrides?.SubnetId, "subnet-0badbadbadbadbad0");
    },
  },
  {
    name: "a fleet launches from the good override when another is bad, and lists the bad one's error",
    async run(world) {
      const SubnetId = present(world.subnets[0]?.SubnetId, "a subnet");
      const overrides: FleetLaunchTemplateOverridesRequest[] = [
        { InstanceType: "c5.large", SubnetId: "subnet-0badbadbadbadbad0" },
        { InstanceType: "m5.large", SubnetId },
      ];
      const answer = await create(world, { overrides });
      assert.equal(answer.Instances?.[0]?.InstanceType, "m5.large");
      assert.deepEqual(
        answer.Errors?.map(({ ErrorCode }) => ErrorCode),
        ["InvalidSubnetID.NotFound"],
      );
    },
  },
];
