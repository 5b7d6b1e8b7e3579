import { DescribeInstancesCommand, DescribeReservedInstancesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";
import { onDemandInstances, reservedInstances } from "#adapters/aws/paid-capacity.ts";

const ec2 = mockClient(EC2Client);
const client = new EC2Client({ region: "us-west-2" });
beforeEach(() => ec2.reset());

describe("reservedInstances", () => {
  it("asks for active ones, and keeps the zone of zonal ones alone", async () => {
    const shared = {
      InstanceType: "m5.large" as const,
      InstanceCount: 3,
      ProductDescription: "Linux/UNIX" as const,
      InstanceTenancy: "default" as const,
    };
    ec2.on(DescribeReservedInstancesCommand, { Filters: [{ Name: "state", Values: ["active"] }] }).resolves({
      ReservedInstances: [
        { ...shared, Scope: "Region" },
        { ...shared, Scope: "Availability Zone", AvailabilityZone: "us-west-2a" },
      ],
    });
    const own = { instanceType: "m5.large", count: 3, platform: "Linux/UNIX", tenancy: "default" };
    expect(await reservedInstances(client)).toEqual([own, { ...own, zone: "us-west-2a" }]);
  });
});

describe("onDemandInstances", () => {
  it("leaves out spot, names the cluster of machines of NodePools, and follows the pages", async () => {
    const machine = (InstanceId: string) => ({
      ...{
        InstanceId,
        InstanceType: "m5.large" as const,
        LaunchTime: new Date(5_000),
        Placement: { AvailabilityZone: "us-west-2a", Tenancy: "default" as const },
      },
    });
    const Tags = [
      { Key: "eks:eks-cluster-name", Value: "prod" },
      { Key: "karpenter.sh/nodepool", Value: "default" },
    ];
    ec2
      .on(DescribeInstancesCommand, { NextToken: undefined })
      .resolves({
        NextToken: "2",
        Reservations: [
          {
            Instances: [
              { ...machine("i-1"), Tags },
              { ...machine("i-2"), InstanceLifecycle: "spot" },
            ],
          },
        ],
      })
      .on(DescribeInstancesCommand, { NextToken: "2" })
      .resolves({
        Reservations: [
          { Instances: [{ ...machine("i-3"), Tags: Tags.slice(0, 1) }] },
          { Instances: [{ ...machine("i-4"), Platform: "Windows", Placement: { Tenancy: "dedicated" } }] },
        ],
      });
    const own = { instanceType: "m5.large", zone: "us-west-2a", launchedAt: 5_000, isWindows: false, isDedicated: false };
    expect(await onDemandInstances(client, ["m5"])).toEqual([
      { ...own, id: "i-1", cluster: "prod" },
      { ...own, id: "i-3" },
      { ...own, id: "i-4", zone: "", isWindows: true, isDedicated: true },
    ]);
    expect(ec2.commandCalls(DescribeInstancesCommand)[0]?.args[0].input.Filters).toEqual([
      { Name: "instance-state-name", Values: ["pending", "running"] },
      { Name: "instance-type", Values: ["m5.*"] },
    ]);
  });
});
