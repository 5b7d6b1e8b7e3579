import { randomUUID } from "node:crypto";
import type { EventCode, Tag, TagSpecification } from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { AwsEvent } from "../options.ts";
import { type FakeAwsState, type FakeInstance, type FakeSubnet, FIRST_HOST, type Tags } from "../world.ts";
import type { LaunchPlan } from "./launch-data.ts";

export type LaunchContext = {
  readonly capacityType: "on-demand" | "spot";
  readonly tags: Tags;
  readonly launchTemplateId?: string;
  readonly fleetId?: string;
  readonly clientToken?: string;
  readonly role: string;
  readonly capacityReservationId?: string;
  readonly reservationId: string;
};

const DEFAULT_DELAY_MS = 1000;
const DEFAULT_FORGET_MS = 3_600_000;
const DEFAULT_NOTICE_MS = 120_000;
const MAX_TAGS = 50;

/** Launches one instance; it is running after the boot delay. The caller has checked capacity and addresses. */
export function launch(world: FakeAwsState, plan: LaunchPlan, context: LaunchContext): FakeInstance {
  const { subnet, data } = plan;
  const address = takeAddress(subnet);
  const now = world.clock.now();
  const suffix = world.region === "us-east-1" ? "ec2.internal" : `${world.region}.compute.internal`;
  const profile = data.IamInstanceProfile?.Name ?? data.IamInstanceProfile?.Arn?.split("/").at(-1);
  const instance: FakeInstance = {
    id: world.id("i"),
    reservationId: context.reservationId,
    instanceType: plan.instanceType,
    architecture: world.images.get(plan.imageId)?.architecture ?? "x86_64",
    zone: subnet.zone,
    zoneId: subnet.zoneId,
    subnetId: subnet.id,
    vpcId: subnet.vpcId,
    imageId: plan.imageId,
    capacityType: context.capacityType,
    ...(context.capacityType === "spot" ? { spotRequestId: world.id("sir", 8) } : {}),
    ...(context.capacityReservationId === undefined ? {} : { capacityReservationId: context.capacityReservationId }),
    ...(data.CapacityReservationSpecification?.CapacityReservationPreference === undefined
      ? {}
      : { capacityReservationPreference: data.CapacityReservationSpecification.CapacityReservationPreference }),
    securityGroupIds: plan.securityGroupIds,
    privateIp: address,
    privateDnsName: `ip-${address.replaceAll(".", "-")}.${suffix}`,
    ...(profile === undefined ? {} : { instanceProfile: profile }),
    userData: plan.userData,
    launch: data,
    ...(context.launchTemplateId === undefined ? {} : { launchTemplateId: context.launchTemplateId }),
    ...(context.fleetId === undefined ? {} : { fleetId: context.fleetId }),
    ...(context.clientToken === undefined ? {} : { clientToken: context.clientToken }),
    launchedBy: context.role,
    launchTime: now,
    visibleAt: now + (world.options.visibleAfterMs ?? 0),
    tags: new Map(context.tags),
    state: "pending",
    impaired: {},
    scheduledEvents: [],
  };
  world.instances.set(instance.id, instance);
  turn(world, instance, "pending");
  world.clock.after(world.options.bootDelayMs ?? DEFAULT_DELAY_MS, () => {
    if (instance.state !== "pending") return;
    turn(world, instance, "running");
    callHook(world, () => world.options.onRunning?.(instance));
  });
  return instance;
}

/** Terminates an instance; has no effect when it is already shutting down. */
export function terminate(world: FakeAwsState, instance: FakeInstance, reason: { readonly code: string; readonly message: string }): void {
  if (instance.state === "shutting-down" || instance.state === "terminated") return;
  instance.stateReason = reason;
  turn(world, instance, "shutting-down");
  world.clock.after(world.options.terminateDelayMs ?? DEFAULT_DELAY_MS, () => {
    instance.terminatedAt = world.clock.now();
    giveAddress(world, instance);
    const reservation = world.capacityReservations.find(
      ({ CapacityReservationId }) => CapacityReservationId === instance.capacityReservationId,
    );
    if (reservation && instance.capacityReservationId !== undefined) {
      reservation.AvailableInstanceCount = (reservation.AvailableInstanceCount ?? 0) + 1;
    }
    turn(world, instance, "terminated");
    callHook(world, () => world.options.onTerminated?.(instance));
    world.clock.after(world.options.forgetAfterMs ?? DEFAULT_FORGET_MS, () => world.instances.delete(instance.id));
  });
}

/** Sends the two-minute notice of a spot interruption, and terminates the instance after it. */
export function interrupt(world: FakeAwsState, instance: FakeInstance): AwsEvent {
  const event = emit(world, {
    source: "aws.ec2",
    "detail-type": "EC2 Spot Instance Interruption Warning",
    resources: [spotArn(instance)],
    detail: { "instance-id": instance.id, "instance-action": "terminate" },
  });
  world.clock.after(world.options.noticeMs ?? DEFAULT_NOTICE_MS, () =>
    terminate(world, instance, {
      code: "Server.SpotInstanceTermination",
      message: "Server.SpotInstanceTermination: Spot instance termination",
    }),
  );
  return event;
}

export const rebalance = (world: FakeAwsState, instance: FakeInstance): AwsEvent =>
  emit(world, {
    source: "aws.ec2",
    "detail-type": "EC2 Instance Rebalance Recommendation",
    resources: [spotArn(instance)],
    detail: { "instance-id": instance.id },
  });

/** In the events of the spot service the ARN has the zone in place of the region, and no account. */
const spotArn = ({ zone, id }: FakeInstance): string => `arn:aws:ec2:${zone}:instance/${id}`;

const TWO_WEEKS_MS = 14 * 24 * 3_600_000;

/** Plans maintenance of an instance two weeks ahead: DescribeInstanceStatus lists it, and AWS Health sends an event. */
export function scheduleMaintenance(world: FakeAwsState, instance: FakeInstance, code: EventCode): AwsEvent {
  const NotBefore = new Date(world.clock.now() + TWO_WEEKS_MS);
  instance.scheduledEvents.push({
    InstanceEventId: world.id("instance-event"),
    Code: code,
    Description: `${code} is scheduled`,
    NotBefore,
  });
  const typeCode = `AWS_EC2_${code.replaceAll("-", "_").toUpperCase()}_SCHEDULED`;
  return emit(world, {
    source: "aws.health",
    "detail-type": "AWS Health Event",
    resources: [instance.id],
    detail: {
      eventArn: `arn:aws:health:${world.region}::event/EC2/${typeCode}/${typeCode}_${instance.id}`,
      service: "EC2",
      eventTypeCode: typeCode,
      eventTypeCategory: "scheduledChange",
      eventScopeCode: "ACCOUNT_SPECIFIC",
      startTime: NotBefore.toUTCString(),
      statusCode: "upcoming",
      eventRegion: world.region,
      eventDescription: [{ language: "en_US", latestDescription: `${code} is scheduled` }],
      affectedEntities: [{ entityValue: instance.id }],
    },
  });
}

function turn(world: FakeAwsState, instance: FakeInstance, state: FakeInstance["state"]): void {
  instance.state = state;
  emit(world, {
    source: "aws.ec2",
    "detail-type": "EC2 Instance State-change Notification",
    resources: [`arn:aws:ec2:${world.region}:${world.account}:instance/${instance.id}`],
    detail: { "instance-id": instance.id, state },
  });
}

function emit(world: FakeAwsState, what: Pick<AwsEvent, "source" | "detail-type" | "resources" | "detail">): AwsEvent {
  const event: AwsEvent = {
    version: "0",
    id: randomUUID(),
    ...what,
    account: world.account,
    time: new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, "Z"),
    region: world.region,
  };
  world.events.push(event);
  callHook(world, () => world.options.onEvent?.(event));
  return event;
}

/** A hook that throws must not break the fake's clock, so its error is kept for the test. */
function callHook(world: FakeAwsState, hook: () => void | Promise<void> | undefined): void {
  const run = async () => hook();
  run().catch((error: unknown) => world.hookErrors.push(error));
}

/**
 * The next free address of the subnet: one that was given back comes again when all others have been given. EC2 does
 * not say in which order it gives them; it does not give one again at once while thousands are free.
 */
function takeAddress(subnet: FakeSubnet): string {
  const size = 2 ** (32 - Number(subnet.cidr.split("/")[1]));
  const after = (host: number): number => (host + 1 < size - 1 ? host + 1 : FIRST_HOST);
  let host = subnet.nextHost;
  while (subnet.used.has(host)) host = after(host);
  subnet.nextHost = after(host);
  subnet.used.add(host);
  subnet.freeAddresses -= 1;
  const [base = "10.0.0.0"] = subnet.cidr.split("/");
  const number = base.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0) + host;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

function giveAddress(world: FakeAwsState, instance: FakeInstance): void {
  const subnet = world.subnets.get(instance.subnetId);
  if (!subnet) return;
  const [base = "10.0.0.0"] = subnet.cidr.split("/");
  const toNumber = (ip: string) => ip.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
  subnet.used.delete(toNumber(instance.privateIp) - toNumber(base));
  subnet.freeAddresses += 1;
}

/**
 * The tags that specifications give to one kind of resource; later ones win. Refuses reserved keys and more than fifty.
 */
export function tagsFor(resource: string, specifications: readonly TagSpecification[]): Tags {
  const tags: Tags = new Map();
  for (const { ResourceType, Tags: list } of specifications) {
    if (ResourceType === resource) addTags(tags, list ?? []);
  }
  return tags;
}

export function addTags(tags: Tags, added: readonly Tag[]): void {
  for (const { Key = "", Value = "" } of added) {
    if (Key.toLowerCase().startsWith("aws:")) {
      throw new AwsError("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use");
    }
    tags.set(Key, Value);
  }
  const own = [...tags.keys()].filter((key) => !key.startsWith("aws:"));
  if (own.length > MAX_TAGS) throw new AwsError("TagLimitExceeded", `The maximum number of Tags for a resource has been reached.`);
}
