import {
  CreateFleetCommand,
  CreateLaunchTemplateCommand,
  CreateTagsCommand,
  DeleteLaunchTemplateCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplatesCommand,
  type EC2Client,
  type Instance as Ec2Instance,
  type LaunchTemplate as Ec2LaunchTemplate,
  type Filter,
  RebootInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import type { FleetRequest, FleetResult, LaunchTemplate } from "#core/model/fleet.ts";
import type { Instance } from "#core/model/instance.ts";
import type { CapacityType } from "#core/model/instance-type.ts";
import { NODE_CLASS, NODE_POOL } from "#core/model/labels.ts";
import { CLUSTER_TAG } from "#core/model/tags.ts";
import { NotFoundError, RefusedError } from "#core/ports/errors.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import { batched } from "./batch.ts";
import { codeOf, isAlreadyThere, isNotFound, isTemplateGone, toDomainError } from "./errors.ts";
import { fleetInput, resultOf } from "./fleet-request.ts";
import { impairedInstances } from "./instance-status.ts";
import { launchTemplateData, toTags } from "./launch-template-data.ts";
import { allPages } from "./pages.ts";

/** EC2's limit of values in one filter. */
const MAX_FILTER_VALUES = 200;
/** As many instances as one TerminateInstances handles well within its time-out. */
const MAX_TERMINATIONS_PER_CALL = 500;
/** How long a request for one instance waits for others of the same moment, ms. No benchmark has tuned it. */
const GATHER_MS = 10;

/**
 * The port Fleet on EC2: CreateFleet, launch templates, and instances, which are found by the cluster's tags. Requests
 * for single instances that NodeClaims of one invocation make at the same time are combined into one call.
 */
export function ec2Fleet(client: EC2Client): Fleet {
  // Templates that this process has created or seen need no call. A template that was garbage-collected shows as
  // NotFoundError and is forgotten.
  const known: KnownTemplates = new Map();
  const describeOne = batched(
    async (ids) => {
      const found = await describeBy(client, [{ Name: "instance-id", Values: [...ids] }]);
      return new Map(found.map((instance) => [instance.id, [instance]]));
    },
    // An id that EC2 does not know fails no call that filters by it.
    { most: MAX_FILTER_VALUES, waitMs: GATHER_MS, blame: () => false },
  );
  const terminateOne = batched((ids) => terminate(client, ids), {
    most: MAX_TERMINATIONS_PER_CALL,
    waitMs: GATHER_MS,
    blame: (error) => error instanceof NotFoundError || error instanceof RefusedError,
  });

  return {
    ensureLaunchTemplate: (template) => ensureTemplate(client, known, template),
    launch: (request) => launch(client, known, request),

    async describe(instanceIds: readonly string[]) {
      const [only] = instanceIds;
      if (only !== undefined && instanceIds.length === 1) return (await describeOne(only)) ?? [];
      const found: Instance[] = [];
      for (let i = 0; i < instanceIds.length; i += MAX_FILTER_VALUES) {
        // Ids as a filter: an unknown id is left out, where the parameter InstanceIds would fail the whole call.
        const Values = instanceIds.slice(i, i + MAX_FILTER_VALUES);
        found.push(...(await describeBy(client, [{ Name: "instance-id", Values }])));
      }
      return found;
    },

    async list(cluster: string) {
      return describeBy(client, [
        { Name: "tag-key", Values: [NODE_POOL] },
        { Name: "tag-key", Values: [NODE_CLASS] },
        { Name: `tag:${CLUSTER_TAG}`, Values: [cluster] },
        { Name: "instance-state-name", Values: ["pending", "running", "stopping", "stopped", "shutting-down"] },
      ]);
    },

    async terminate(instanceId: string) {
      await terminateOne(instanceId);
    },

    async reboot(instanceId: string) {
      try {
        await client.send(new RebootInstancesCommand({ InstanceIds: [instanceId] }));
      } catch (error) {
        throw toDomainError(error);
      }
    },

    async tag(instanceId: string, tags: Readonly<Record<string, string>>) {
      try {
        await client.send(new CreateTagsCommand({ Resources: [instanceId], Tags: toTags(tags) }));
      } catch (error) {
        throw toDomainError(error);
      }
    },

    impaired: () => impairedInstances(client),

    removeLaunchTemplates: (cluster, madeBefore) => removeTemplates(client, known, cluster, madeBefore),
  };
}

/** Launch templates that are being created, or exist, by name. */
type KnownTemplates = Map<string, Promise<void>>;

async function ensureTemplate(client: EC2Client, known: KnownTemplates, template: LaunchTemplate): Promise<void> {
  // NodeClaims of one invocation mostly need the same few templates: the first creates them, the others wait for that.
  const making = known.get(template.name) ?? makeTemplate(client, template);
  known.set(template.name, making);
  try {
    await making;
  } catch (error) {
    known.delete(template.name);
    throw error;
  }
}

async function launch(client: EC2Client, known: KnownTemplates, request: FleetRequest): Promise<FleetResult> {
  const forget = (): void => {
    for (const { name } of request.launchTemplates) known.delete(name);
  };
  try {
    const result = resultOf(request, await client.send(new CreateFleetCommand(fleetInput(request))));
    if (result.errors.some(({ code }) => isTemplateGone(code))) forget();
    return result;
  } catch (error) {
    if (isTemplateGone(codeOf(error))) forget();
    // A subnet, image or security group that is gone must be fixed by a user; only a template is created again.
    else if (isNotFound(error) && error instanceof Error) throw new RefusedError(`${codeOf(error)}: ${error.message}`, { cause: error });
    throw toDomainError(error);
  }
}

/** Removes the cluster's launch templates that were created before a time, ms since the epoch. Returns their number. */
async function removeTemplates(client: EC2Client, known: KnownTemplates, cluster: string, madeBefore: number): Promise<number> {
  let removed = 0;
  for (const { LaunchTemplateName: name, CreateTime } of await templatesOf(client, cluster)) {
    if (!name?.startsWith("karpenter.k8s.aws/") || CreateTime === undefined || CreateTime.getTime() >= madeBefore) continue;
    known.delete(name);
    try {
      await client.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: name }));
      removed += 1;
    } catch (error) {
      if (!isNotFound(error)) throw toDomainError(error);
    }
  }
  return removed;
}

async function templatesOf(client: EC2Client, cluster: string): Promise<readonly Ec2LaunchTemplate[]> {
  const Filters = [{ Name: `tag:${CLUSTER_TAG}`, Values: [cluster] }];
  return allPages(
    (NextToken) => client.send(new DescribeLaunchTemplatesCommand({ Filters, MaxResults: 200, NextToken })),
    (page) => page.LaunchTemplates,
    (page) => page.NextToken,
  );
}

async function makeTemplate(client: EC2Client, template: LaunchTemplate): Promise<void> {
  try {
    await client.send(
      new CreateLaunchTemplateCommand({
        LaunchTemplateName: template.name,
        LaunchTemplateData: launchTemplateData(template, await client.config.region()),
        TagSpecifications: [{ ResourceType: "launch-template", Tags: toTags(template.tags) }],
      }),
    );
  } catch (error) {
    // The name is the hash of the content, so an existing template is the same.
    if (!isAlreadyThere(error)) throw toDomainError(error);
  }
}

/**
 * Terminates instances; one that EC2 does not know counts as terminated. An unknown id fails the whole call, so a
 * NotFoundError for several ids is thrown, and each id is then requested by itself.
 */
async function terminate(client: EC2Client, instanceIds: readonly string[]): Promise<ReadonlyMap<string, true>> {
  const gone = new Map(instanceIds.map((id) => [id, true] as const));
  try {
    await client.send(new TerminateInstancesCommand({ InstanceIds: [...instanceIds] }));
  } catch (error) {
    const domainError = toDomainError(error);
    if (!(domainError instanceof NotFoundError) || instanceIds.length > 1) throw domainError;
  }
  return gone;
}

async function describeBy(client: EC2Client, filters: Filter[]): Promise<readonly Instance[]> {
  const reservations = await allPages(
    (NextToken) => client.send(new DescribeInstancesCommand({ Filters: filters, MaxResults: 1000, NextToken })),
    (page) => page.Reservations,
    (page) => page.NextToken,
  );
  return reservations.flatMap(({ Instances = [] }) => Instances.flatMap(toInstance));
}

function toInstance(instance: Ec2Instance): readonly Instance[] {
  const { InstanceId, SubnetId, PrivateDnsName, SecurityGroups } = instance;
  if (InstanceId === undefined) return [];
  const reservationId = reservationIdOf(instance);
  return [
    {
      id: InstanceId,
      instanceType: instance.InstanceType ?? "",
      zone: instance.Placement?.AvailabilityZone ?? "",
      capacityType: capacityTypeOf(instance),
      imageId: instance.ImageId ?? "",
      state: instance.State?.Name ?? "pending",
      launchedAt: instance.LaunchTime?.getTime() ?? 0,
      tags: Object.fromEntries((instance.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
      ...(SubnetId && { subnetId: SubnetId }),
      ...(SecurityGroups && { securityGroupIds: SecurityGroups.flatMap(({ GroupId }) => GroupId ?? []) }),
      ...(PrivateDnsName && { privateDnsName: PrivateDnsName }),
      ...(reservationId && { reservationId }),
      ...(instance.Placement?.PartitionNumber && { partition: String(instance.Placement.PartitionNumber) }),
    },
  ];
}

function capacityTypeOf(instance: Ec2Instance): CapacityType {
  if (instance.SpotInstanceRequestId || instance.InstanceLifecycle === "spot") return "spot";
  return reservationIdOf(instance) === undefined ? "on-demand" : "reserved";
}

/**
 * The capacity reservation that the launch targeted. An instance that EC2 placed into an open reservation of others is
 * still on-demand.
 */
function reservationIdOf({ CapacityReservationId, CapacityReservationSpecification }: Ec2Instance): string | undefined {
  const meant = CapacityReservationSpecification?.CapacityReservationPreference === "capacity-reservations-only";
  return meant ? CapacityReservationId : undefined;
}
