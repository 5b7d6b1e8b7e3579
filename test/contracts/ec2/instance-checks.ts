import assert from "node:assert/strict";
import {
  CreateTagsCommand,
  DeleteTagsCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  paginateDescribeInstances,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { present, refused } from "./assertions.ts";
import type { Check } from "./contract.ts";
import { type ContractWorld, instanceOf, makeTemplate, until } from "./world.ts";

const ABSENT = "i-0123456789abcdef0";

async function run(world: ContractWorld, extra: Partial<RunInstancesCommandInput> = {}): Promise<string[]> {
  const answer = await world.ec2.send(
    new RunInstancesCommand({
      MinCount: 1,
      MaxCount: 1,
      ImageId: world.imageId,
      InstanceType: "m5.large",
      SubnetId: present(world.subnets[0]?.SubnetId, "a subnet"),
      ...extra,
    }),
  );
  return (answer.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
}

const tagged = (key: string, value: string): Partial<RunInstancesCommandInput> => ({
  TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: key, Value: value }] }],
});

export const instanceChecks: readonly Check[] = [
  {
    name: "a new instance is pending, then running",
    async run(world) {
      const answer = await world.ec2.send(
        new RunInstancesCommand({
          MinCount: 1,
          MaxCount: 1,
          ImageId: world.imageId,
          InstanceType: "m5.large",
          SubnetId: present(world.subnets[0]?.SubnetId, "a subnet"),
        }),
      );
      assert.equal(answer.Instances?.[0]?.State?.Name, "pending");
      await until(world, present(answer.Instances?.[0]?.InstanceId, "InstanceId"), "running");
    },
  },
  {
    name: "a running instance has the private name that its kubelet registers under",
    async run(world) {
      const [id = ""] = await run(world);
      const instance = await until(world, id, "running");
      const address = present(instance.PrivateIpAddress, "PrivateIpAddress").replaceAll(".", "-");
      assert.equal(instance.PrivateDnsName, `ip-${address}.us-west-2.compute.internal`);
    },
  },
  {
    name: "a terminated instance shuts down first, and stays to be seen as terminated",
    async run(world) {
      const [id = ""] = await run(world);
      await until(world, id, "running");
      const answer = await world.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
      assert.equal(answer.TerminatingInstances?.[0]?.PreviousState?.Name, "running");
      assert.equal(answer.TerminatingInstances?.[0]?.CurrentState?.Name, "shutting-down");
      const gone = await until(world, id, "terminated");
      assert.equal(gone.State?.Code, 48);
    },
  },
  {
    name: "terminating twice is no error",
    async run(world) {
      const [id = ""] = await run(world);
      await world.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
      const again = await world.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
      assert.equal(again.TerminatingInstances?.[0]?.InstanceId, id);
    },
  },
  {
    name: "one unknown id fails a whole termination",
    async run(world) {
      const [id = ""] = await run(world);
      await refused(world.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id, ABSENT] })), "InvalidInstanceID.NotFound");
      assert.notEqual((await instanceOf(world, id)).State?.Name, "shutting-down");
    },
  },
  {
    name: "describing an unknown id is InvalidInstanceID.NotFound",
    async run(world) {
      await refused(world.ec2.send(new DescribeInstancesCommand({ InstanceIds: [ABSENT] })), "InvalidInstanceID.NotFound");
    },
  },
  {
    name: "a misshapen id is InvalidInstanceID.Malformed",
    async run(world) {
      await refused(world.ec2.send(new DescribeInstancesCommand({ InstanceIds: ["i-not-an-id"] })), "InvalidInstanceID.Malformed");
    },
  },
  {
    name: "instances are found by tag, by tag key and by state, all filters together",
    async run(world) {
      const key = world.unique("key");
      const [id = ""] = await run(world, tagged(key, "yes"));
      await run(world, tagged(key, "no"));
      const { Reservations = [] } = await world.ec2.send(
        new DescribeInstancesCommand({
          Filters: [
            { Name: "tag-key", Values: [key] },
            { Name: `tag:${key}`, Values: ["yes"] },
            { Name: "instance-state-name", Values: ["pending", "running"] },
          ],
        }),
      );
      assert.deepEqual(
        Reservations.flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId)),
        [id],
      );
    },
  },
  {
    name: "a filter's values may hold wildcards",
    async run(world) {
      const value = world.unique("pool");
      const [id = ""] = await run(world, tagged("wild", value));
      const { Reservations = [] } = await world.ec2.send(
        new DescribeInstancesCommand({ Filters: [{ Name: "tag:wild", Values: [`${value.slice(0, -1)}?`] }] }),
      );
      assert.deepEqual(
        Reservations.flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId)),
        [id],
      );
    },
  },
  {
    name: "pages of instances add up to all of them",
    async run(world) {
      const value = world.unique("page");
      for (let i = 0; i < 7; i += 1) await run(world, tagged("paged", value));
      const seen: string[] = [];
      let pages = 0;
      for await (const page of paginateDescribeInstances(
        { client: world.ec2, pageSize: 5 },
        { Filters: [{ Name: "tag:paged", Values: [value] }] },
      )) {
        pages += 1;
        seen.push(...(page.Reservations ?? []).flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId }) => InstanceId ?? [])));
      }
      assert.equal(new Set(seen).size, 7);
      assert.equal(pages, 2);
    },
  },
  {
    name: "tags are added, overwritten and removed",
    async run(world) {
      const [id = ""] = await run(world, tagged("a", "1"));
      await world.ec2.send(
        new CreateTagsCommand({
          Resources: [id],
          Tags: [
            { Key: "a", Value: "2" },
            { Key: "b", Value: "3" },
          ],
        }),
      );
      await world.ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: [{ Key: "b" }] }));
      const tags = Object.fromEntries((await instanceOf(world, id)).Tags?.map(({ Key = "", Value }) => [Key, Value]) ?? []);
      assert.equal(tags["a"], "2");
      assert.equal(tags["b"], undefined);
    },
  },
  {
    name: "tagging an unknown instance is InvalidInstanceID.NotFound",
    async run(world) {
      await refused(
        world.ec2.send(new CreateTagsCommand({ Resources: [ABSENT], Tags: [{ Key: "a", Value: "1" }] })),
        "InvalidInstanceID.NotFound",
      );
    },
  },
  {
    name: "a dry run of RunInstances is refused with DryRunOperation and launches nothing",
    async run(world) {
      const value = world.unique("dry");
      await refused(run(world, { ...tagged("dry", value), DryRun: true }), "DryRunOperation");
      const { Reservations = [] } = await world.ec2.send(new DescribeInstancesCommand({ Filters: [{ Name: "tag:dry", Values: [value] }] }));
      assert.equal(Reservations.length, 0);
    },
  },
  {
    name: "RunInstances with an unknown image is InvalidAMIID.NotFound",
    async run(world) {
      await refused(run(world, { ImageId: "ami-0badbadbadbadbad0" }), "InvalidAMIID.NotFound");
    },
  },
  {
    name: "RunInstances with an unknown instance profile is refused as an invalid parameter",
    async run(world) {
      await refused(run(world, { IamInstanceProfile: { Name: world.unique("absent") } }), "InvalidParameterValue");
    },
  },
  {
    name: "RunInstances takes image and profile from a launch template",
    async run(world) {
      const template = await makeTemplate(world, { NetworkInterfaces: [] });
      const answer = await world.ec2.send(
        new RunInstancesCommand({
          MinCount: 1,
          MaxCount: 1,
          InstanceType: "m5.large",
          SubnetId: present(world.subnets[0]?.SubnetId, "a subnet"),
          LaunchTemplate: { LaunchTemplateName: template, Version: "$Latest" },
        }),
      );
      assert.equal(answer.Instances?.[0]?.ImageId, world.imageId);
    },
  },
  {
    name: "RunInstances with a subnet of its own and a network interface is refused",
    async run(world) {
      const subnet = present(world.subnets[0]?.SubnetId, "a subnet");
      await refused(run(world, { NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: subnet }] }), "InvalidParameterCombination");
    },
  },
  {
    name: "RunInstances with a subnet of its own is refused when the template has a network interface",
    async run(world) {
      const LaunchTemplate = { LaunchTemplateName: await makeTemplate(world), Version: "$Latest" };
      await refused(run(world, { LaunchTemplate }), "InvalidParameterCombination");
    },
  },
  {
    name: "the same client token launches one instance only",
    async run(world) {
      const ClientToken = world.unique("token");
      assert.deepEqual(await run(world, { ClientToken }), await run(world, { ClientToken }));
    },
  },
  {
    name: "the status of a running instance is reported, filtered by impairment",
    async run(world) {
      const [id = ""] = await run(world);
      await until(world, id, "running");
      const all = await world.ec2.send(new DescribeInstanceStatusCommand({ InstanceIds: [id] }));
      assert.equal(all.InstanceStatuses?.[0]?.InstanceStatus?.Status, "ok");
      const impaired = await world.ec2.send(
        new DescribeInstanceStatusCommand({ Filters: [{ Name: "instance-status.status", Values: ["impaired"] }] }),
      );
      assert.deepEqual(impaired.InstanceStatuses ?? [], []);
    },
  },
];
