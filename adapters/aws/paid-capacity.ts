import { DescribeInstancesCommand, DescribeReservedInstancesCommand, type EC2Client, type Instance } from "@aws-sdk/client-ec2";
import { NODE_POOL } from "#core/model/labels.ts";
import { CLUSTER_TAG } from "#core/model/tags.ts";
import type { OnDemandInstance, ReservedInstance } from "#core/ports/cloud-inventory.ts";
import { toDomainError } from "./errors.ts";
import { allPages } from "./pages.ts";

/** The active reserved instances of the account and region; EC2 answers in one page. */
export async function reservedInstances(ec2: EC2Client): Promise<readonly ReservedInstance[]> {
  try {
    const Filters = [{ Name: "state", Values: ["active"] }];
    const { ReservedInstances = [] } = await ec2.send(new DescribeReservedInstancesCommand({ Filters }));
    return ReservedInstances.map(({ InstanceType, InstanceCount = 0, Scope, AvailabilityZone, ProductDescription, InstanceTenancy }) => ({
      instanceType: InstanceType ?? "",
      count: InstanceCount,
      ...(Scope !== "Region" && AvailabilityZone !== undefined && { zone: AvailabilityZone }),
      platform: ProductDescription ?? "",
      tenancy: InstanceTenancy ?? "default",
    }));
  } catch (error) {
    throw toDomainError(error);
  }
}

/** EC2 takes 200 values in one filter. */
const MAX_VALUES = 200;

/** The port's method CloudInventory.onDemandInstances. EC2 has no filter for instances that are not spot. */
export async function onDemandInstances(ec2: EC2Client, families: readonly string[] | undefined): Promise<readonly OnDemandInstance[]> {
  const Filters = [{ Name: "instance-state-name", Values: ["pending", "running"] }];
  if (families !== undefined && families.length <= MAX_VALUES)
    Filters.push({ Name: "instance-type", Values: families.map((family) => `${family}.*`) });
  const reservations = await allPages(
    (NextToken) => ec2.send(new DescribeInstancesCommand({ Filters, MaxResults: 1000, NextToken })),
    (page) => page.Reservations?.flatMap(({ Instances = [] }) => Instances.flatMap(billedOnDemand)),
    (page) => page.NextToken,
  );
  return reservations;
}

function billedOnDemand(instance: Instance): readonly OnDemandInstance[] {
  const { InstanceId: id, InstanceType: instanceType, InstanceLifecycle, Placement, LaunchTime, Platform, Tags = [] } = instance;
  if (id === undefined || instanceType === undefined || InstanceLifecycle !== undefined) return [];
  const tag = (key: string): string | undefined => Tags.find(({ Key }) => Key === key)?.Value;
  const cluster = tag(NODE_POOL) === undefined ? undefined : tag(CLUSTER_TAG);
  return [
    {
      ...{ id, instanceType, zone: Placement?.AvailabilityZone ?? "", launchedAt: LaunchTime?.getTime() ?? 0 },
      ...(cluster !== undefined && { cluster }),
      isWindows: Platform?.toLowerCase() === "windows",
      isDedicated: (Placement?.Tenancy ?? "default") !== "default",
    },
  ];
}
