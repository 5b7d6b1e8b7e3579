import type {
  DescribeInstanceStatusRequest,
  DescribeInstanceStatusResult,
  DescribeInstancesRequest,
  DescribeInstancesResult,
  Instance,
  InstanceStatus,
  RebootInstancesRequest,
  Reservation,
  RunInstancesRequest,
  TerminateInstancesRequest,
  TerminateInstancesResult,
} from "@aws-sdk/client-ec2";
import { AwsError, dryRunPassed, missing, notFound } from "../errors.ts";
import { type FakeAwsState, type FakeInstance, tagList } from "../world.ts";
import { type CallContext, roomIn } from "./capacity.ts";
import { launch, tagsFor, terminate } from "./instance-life.ts";
import { arnOfProfile, planLaunch, runData } from "./launch-data.ts";
import { type Facets, page, select } from "./select.ts";

const STATE_CODES = { pending: 0, running: 16, "shutting-down": 32, terminated: 48, stopping: 64, stopped: 80 } as const;
const MALFORMED = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

const FACETS: Facets<FakeInstance> = {
  "instance-id": ({ id }) => id,
  "instance-state-name": ({ state }) => state,
  "instance-state-code": ({ state }) => String(STATE_CODES[state]),
  "instance-type": ({ instanceType }) => instanceType,
  "availability-zone": ({ zone }) => zone,
  "subnet-id": ({ subnetId }) => subnetId,
  "vpc-id": ({ vpcId }) => vpcId,
  "image-id": ({ imageId }) => imageId,
  "client-token": ({ clientToken }) => clientToken,
  "private-dns-name": ({ privateDnsName }) => privateDnsName,
  "private-ip-address": ({ privateIp }) => privateIp,
  "instance-lifecycle": ({ capacityType }) => (capacityType === "spot" ? "spot" : undefined),
  "instance.group-id": ({ securityGroupIds }) => securityGroupIds,
  "reservation-id": ({ reservationId }) => reservationId,
  "capacity-reservation-id": ({ capacityReservationId }) => capacityReservationId,
};

const visible = (world: FakeAwsState): FakeInstance[] =>
  [...world.instances.values()].filter(({ visibleAt }) => visibleAt <= world.clock.now());

/**
 * The instances of these ids; throws Malformed or NotFound when one of them is wrong, because EC2 refuses the whole
 * call.
 */
export function byIds(world: FakeAwsState, ids: readonly string[]): FakeInstance[] {
  const known = new Map(visible(world).map((instance) => [instance.id, instance]));
  for (const id of ids) {
    if (!MALFORMED.test(id)) throw new AwsError("InvalidInstanceID.Malformed", `Invalid id: "${id}"`);
  }
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw notFound("InstanceID", unknown.length === 1 ? "instance ID" : "instance IDs", unknown);
  return ids.flatMap((id) => known.get(id) ?? []);
}

export function describeInstances(world: FakeAwsState, request: DescribeInstancesRequest): DescribeInstancesResult {
  const ids = request.InstanceIds ?? [];
  if (ids.length > 0 && request.MaxResults !== undefined) {
    throw new AwsError(
      "InvalidParameterCombination",
      "The parameter instancesSet cannot be used with the parameter maxResults. Remove maxResults from the request.",
    );
  }
  const chosen = select(ids.length > 0 ? byIds(world, ids) : visible(world), request.Filters, FACETS);
  const { items, next } = page(chosen, request, { min: 5, max: 1000 });
  return { Reservations: reservationsOf(world, items), ...(next === undefined ? {} : { NextToken: next }) };
}

function reservationsOf(world: FakeAwsState, instances: readonly FakeInstance[]): Reservation[] {
  const reservations = Map.groupBy(instances, ({ reservationId }) => reservationId);
  return [...reservations].map(([ReservationId, members]) => ({
    ReservationId,
    OwnerId: world.account,
    Groups: [],
    Instances: members.map((instance) => describe(world, instance)),
  }));
}

function describe(world: FakeAwsState, instance: FakeInstance): Instance {
  const { launch: data, state } = instance;
  const groups = instance.securityGroupIds.map((GroupId) => ({ GroupId, GroupName: world.securityGroups.get(GroupId)?.name ?? "" }));
  const gone = state === "terminated";
  const type = world.types.get(instance.instanceType);
  const profile = instance.instanceProfile;
  const reservationId = instance.capacityReservationId;
  return {
    InstanceId: instance.id,
    ImageId: instance.imageId,
    State: { Name: state, Code: STATE_CODES[state] },
    PrivateDnsName: gone ? "" : instance.privateDnsName,
    PublicDnsName: "",
    ...(instance.stateReason
      ? {
          StateReason: { Code: instance.stateReason.code, Message: instance.stateReason.message },
          StateTransitionReason: instance.stateReason.message,
        }
      : { StateTransitionReason: "" }),
    AmiLaunchIndex: 0,
    InstanceType: instance.instanceType as NonNullable<Instance["InstanceType"]>,
    LaunchTime: new Date(instance.launchTime),
    Placement: {
      AvailabilityZone: instance.zone,
      AvailabilityZoneId: instance.zoneId,
      GroupName: data.Placement?.GroupName ?? "",
      Tenancy: data.Placement?.Tenancy ?? "default",
      ...(data.Placement?.GroupId === undefined ? {} : { GroupId: data.Placement.GroupId }),
      ...(data.Placement?.PartitionNumber === undefined ? {} : { PartitionNumber: data.Placement.PartitionNumber }),
    },
    Monitoring: { State: data.Monitoring?.Enabled ? "enabled" : "disabled" },
    // As in EC2, a terminated instance has no network any more.
    ...(gone
      ? { SecurityGroups: [], NetworkInterfaces: [] }
      : {
          SubnetId: instance.subnetId,
          VpcId: instance.vpcId,
          PrivateIpAddress: instance.privateIp,
          SecurityGroups: groups,
          NetworkInterfaces: [
            {
              NetworkInterfaceId: `eni-${instance.id.slice(2)}`,
              SubnetId: instance.subnetId,
              VpcId: instance.vpcId,
              PrivateIpAddress: instance.privateIp,
              PrivateDnsName: instance.privateDnsName,
              Groups: groups,
              Status: "in-use",
              InterfaceType: "interface",
              Attachment: { DeviceIndex: 0, NetworkCardIndex: 0, Status: "attached", DeleteOnTermination: true },
            },
          ],
        }),
    Architecture: instance.architecture as NonNullable<Instance["Architecture"]>,
    RootDeviceType: "ebs",
    RootDeviceName: world.images.get(instance.imageId)?.rootDeviceName ?? "/dev/xvda",
    VirtualizationType: "hvm",
    ...(type?.Hypervisor === undefined ? {} : { Hypervisor: "xen" }),
    EbsOptimized: data.EbsOptimized ?? false,
    EnaSupport: true,
    BlockDeviceMappings: (data.BlockDeviceMappings ?? []).map(({ DeviceName }, i) => ({
      ...(DeviceName === undefined ? {} : { DeviceName }),
      Ebs: { VolumeId: `vol-${instance.id.slice(2, -1)}${i}`, Status: "attached", DeleteOnTermination: true },
    })),
    MetadataOptions: {
      State: "applied",
      HttpTokens: data.MetadataOptions?.HttpTokens ?? "optional",
      HttpPutResponseHopLimit: data.MetadataOptions?.HttpPutResponseHopLimit ?? 1,
      HttpEndpoint: data.MetadataOptions?.HttpEndpoint ?? "enabled",
      HttpProtocolIpv6: data.MetadataOptions?.HttpProtocolIpv6 ?? "disabled",
      InstanceMetadataTags: data.MetadataOptions?.InstanceMetadataTags ?? "disabled",
    },
    CpuOptions: { CoreCount: type?.VCpuInfo?.DefaultCores ?? 1, ThreadsPerCore: type?.VCpuInfo?.DefaultThreadsPerCore ?? 1 },
    ...(profile === undefined
      ? {}
      : { IamInstanceProfile: { Arn: arnOfProfile(world, profile), Id: world.instanceProfiles.get(profile)?.id ?? "" } }),
    ...(instance.capacityType === "spot" ? { InstanceLifecycle: "spot" as const } : {}),
    ...(instance.spotRequestId === undefined ? {} : { SpotInstanceRequestId: instance.spotRequestId }),
    ...(reservationId === undefined ? {} : { CapacityReservationId: reservationId }),
    CapacityReservationSpecification: {
      CapacityReservationPreference: (instance.capacityReservationPreference ?? "open") as "open" | "none" | "capacity-reservations-only",
      ...(reservationId === undefined ? {} : { CapacityReservationTarget: { CapacityReservationId: reservationId } }),
    },
    ...(instance.clientToken === undefined ? {} : { ClientToken: instance.clientToken }),
    Tags: tagList(instance.tags),
  };
}

export function terminateInstances(world: FakeAwsState, request: TerminateInstancesRequest): TerminateInstancesResult {
  if (!request.InstanceIds?.length) throw missing("InstanceId");
  const instances = byIds(world, request.InstanceIds);
  if (request.DryRun) throw dryRunPassed();
  return {
    TerminatingInstances: instances.map((instance) => {
      const before = instance.state;
      terminate(world, instance, {
        code: "Client.UserInitiatedShutdown",
        message: "Client.UserInitiatedShutdown: User initiated shutdown",
      });
      return {
        InstanceId: instance.id,
        PreviousState: { Name: before, Code: STATE_CODES[before] },
        CurrentState: { Name: instance.state, Code: STATE_CODES[instance.state] },
      };
    }),
  };
}

/** EC2 answers at once; the machine's kubelet shows the reboot. */
export function rebootInstances(world: FakeAwsState, request: RebootInstancesRequest): Record<string, never> {
  if (!request.InstanceIds?.length) throw missing("InstanceId");
  byIds(world, request.InstanceIds);
  if (request.DryRun) throw dryRunPassed();
  return {};
}

/**
 * Launches from one pool between MinCount and MaxCount instances; a refusal is an error of the call, not of an error
 * set.
 */
export function runInstances(world: FakeAwsState, request: RunInstancesRequest, context: CallContext): Reservation {
  if (request.MinCount === undefined) throw missing("MinCount");
  const data = runData(world, request);
  const zone = request.Placement?.AvailabilityZone;
  const plan = planLaunch(world, data, { subnetId: request.SubnetId, zone }, "run");
  if (request.DryRun) throw dryRunPassed();
  const capacityType = data.InstanceMarketOptions?.MarketType === "spot" ? "spot" : "on-demand";
  const wanted = request.MaxCount ?? request.MinCount;
  const room = roomIn(world, plan, capacityType, context, wanted, 0);
  if (room.shortage && room.count < request.MinCount) {
    const status = room.shortage.code === "InsufficientInstanceCapacity" ? 500 : 400;
    throw new AwsError(room.shortage.code, room.shortage.message, status);
  }
  const reservationId = world.id("r");
  const tags = tagsFor("instance", data.TagSpecifications ?? []);
  const made = Array.from({ length: room.count }, () =>
    launch(world, plan, {
      capacityType,
      tags,
      role: context.call.role,
      reservationId,
      ...(request.ClientToken === undefined ? {} : { clientToken: request.ClientToken }),
      ...(room.reservation === undefined ? {} : { capacityReservationId: room.reservation }),
    }),
  );
  return { ReservationId: reservationId, OwnerId: world.account, Groups: [], Instances: made.map((instance) => describe(world, instance)) };
}

const STATUS_FACETS: Facets<FakeInstance> = {
  "instance-state-name": ({ state }) => state,
  "instance-status.status": ({ impaired }) => (impaired.instance === undefined ? "ok" : "impaired"),
  "system-status.status": ({ impaired }) => (impaired.system === undefined ? "ok" : "impaired"),
  "event.code": ({ scheduledEvents }) => scheduledEvents.map(({ Code }) => Code),
  "availability-zone": ({ zone }) => zone,
};

export function describeInstanceStatus(world: FakeAwsState, request: DescribeInstanceStatusRequest): DescribeInstanceStatusResult {
  const named = request.InstanceIds?.length ? byIds(world, request.InstanceIds) : visible(world);
  const shown = request.IncludeAllInstances ? named : named.filter(({ state }) => state === "running");
  const { items, next } = page(select(shown, request.Filters, STATUS_FACETS), request, { min: 5, max: 1000 });
  const InstanceStatuses: InstanceStatus[] = items.map((instance) => ({
    InstanceId: instance.id,
    AvailabilityZone: instance.zone,
    InstanceState: { Name: instance.state, Code: STATE_CODES[instance.state] },
    InstanceStatus: summary(instance.impaired.instance),
    SystemStatus: summary(instance.impaired.system),
    Events: instance.scheduledEvents,
  }));
  return { InstanceStatuses, ...(next === undefined ? {} : { NextToken: next }) };
}

const summary = (impairedSince: number | undefined): NonNullable<InstanceStatus["InstanceStatus"]> =>
  impairedSince === undefined
    ? { Status: "ok", Details: [{ Name: "reachability", Status: "passed" }] }
    : { Status: "impaired", Details: [{ Name: "reachability", Status: "failed", ImpairedSince: new Date(impairedSince) }] };
