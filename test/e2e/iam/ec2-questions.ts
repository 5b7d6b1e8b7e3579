import type { RequestLaunchTemplateData, TagSpecification } from "@aws-sdk/client-ec2";
import { templateOf } from "../fake-aws/ec2/launch-data.ts";
import { AwsError } from "../fake-aws/errors.ts";
import type { FakeAwsState, FakeInstanceProfile, FakeLaunchTemplate, Tags } from "../fake-aws/world.ts";
import type { RequestContext } from "./conditions.ts";
import type { Question } from "./policy.ts";

/**
 * What IAM checks for EC2's calls, by the Service Authorization Reference: the action on every resource that the call
 * names or creates. A new resource has the tags of its TagSpecification (aws:RequestTag), an existing resource its own
 * tags (aws:ResourceTag). An instant fleet launches in the caller's name, so RunInstances is checked too.
 */
export function ec2Questions(world: FakeAwsState, action: string, params: Readonly<Record<string, unknown>>): readonly Question[] {
  const ask = asker(world);
  switch (action) {
    case "CreateFleet":
      return fleetQuestions(world, ask, params);
    case "CreateLaunchTemplate": {
      const tags = tagsFor("launch-template", specifications(params));
      return [
        ask("CreateLaunchTemplate", "launch-template/*", requested(tags)),
        ...(tags.size > 0
          ? [ask("CreateTags", "launch-template/*", { ...requested(tags), "ec2:CreateAction": "CreateLaunchTemplate" })]
          : []),
      ];
    }
    case "DeleteLaunchTemplate": {
      const template = named(world, params);
      return [ask(action, `launch-template/${template?.id ?? "*"}`, existing(template?.tags))];
    }
    case "RebootInstances":
    case "TerminateInstances":
      return strings(params["InstanceIds"]).map((id) => ask(action, `instance/${id}`, existing(world.instances.get(id)?.tags)));
    case "CreateTags":
      return strings(params["Resources"]).map((id) =>
        ask(action, resourceOf(id), { ...existing(world.instances.get(id)?.tags), ...requested(tagMap(params["Tags"])) }),
      );
    default:
      // Describe actions have no resources. Other actions must be added above.
      if (!action.startsWith("Describe")) throw new Error(`test/e2e/iam/ec2-questions.ts does not know what IAM asks about ec2:${action}.`);
      return [{ action: `ec2:${action}`, resource: "*", context: { "aws:RequestedRegion": world.region } }];
  }
}

type Ask = (action: string, resource: string, context?: RequestContext) => Question;

const asker =
  ({ region, account }: FakeAwsState): Ask =>
  (action, resource, context = {}) => ({
    action: `ec2:${action}`,
    resource: `arn:aws:ec2:${region}:${/^(image|snapshot)\//.test(resource) ? "" : account}:${resource}`,
    context: { "aws:RequestedRegion": region, ...context },
  });

function fleetQuestions(world: FakeAwsState, ask: Ask, params: Readonly<Record<string, unknown>>): readonly Question[] {
  const fleetTags = specifications(params);
  const spot =
    (params["TargetCapacitySpecification"] as { DefaultTargetCapacityType?: string } | undefined)?.DefaultTargetCapacityType === "spot";
  const questions = [ask("CreateFleet", "fleet/*", requested(tagsFor("fleet", fleetTags)))];
  for (const { ResourceType = "", Tags: tags } of fleetTags) {
    if (tags?.length)
      questions.push(ask("CreateTags", `${ResourceType}/*`, { ...requested(tagMap(tags)), "ec2:CreateAction": "CreateFleet" }));
  }
  for (const config of (params["LaunchTemplateConfigs"] ?? []) as readonly FleetConfig[]) {
    const template = named(world, config.LaunchTemplateSpecification ?? {});
    // EC2 authorizes existing resources; for a missing template the call fails with NotFound.
    const data = template?.versions.at(-1);
    if (template === undefined || data === undefined) continue;
    const tags = [...fleetTags, ...((data.TagSpecifications ?? []) as readonly TagSpecification[])];
    const made = ["instance", "volume", "network-interface", ...(spot ? ["spot-instances-request"] : [])];
    for (const action of ["CreateFleet", "RunInstances"]) {
      questions.push(ask(action, `launch-template/${template.id}`, existing(template.tags)));
      for (const type of made) questions.push(ask(action, `${type}/*`, requested(tagsFor(type, tags))));
      for (const resource of pointedTo(data, config)) questions.push(ask(action, resource));
    }
    for (const type of made) {
      const own = tagsFor(type, tags);
      if (own.size > 0) questions.push(ask("CreateTags", `${type}/*`, { ...requested(own), "ec2:CreateAction": "RunInstances" }));
    }
    questions.push(...passing(world, data));
  }
  return unique(questions);
}

interface FleetConfig {
  readonly LaunchTemplateSpecification?: Readonly<Record<string, unknown>>;
  readonly Overrides?: readonly { readonly SubnetId?: string; readonly ImageId?: string }[];
}

/** Existing resources that a launch refers to: images, snapshots, subnets, groups, reservations, placement groups. */
function pointedTo(data: RequestLaunchTemplateData, { Overrides = [] }: FleetConfig): readonly string[] {
  const interfaces = data.NetworkInterfaces ?? [];
  const reservation = data.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId;
  const found = [
    ...[data.ImageId, ...Overrides.map(({ ImageId }) => ImageId)].map((id) => id && `image/${id}`),
    ...(data.BlockDeviceMappings ?? []).map(({ Ebs }) => Ebs?.SnapshotId && `snapshot/${Ebs.SnapshotId}`),
    ...[...interfaces.map(({ SubnetId }) => SubnetId), ...Overrides.map(({ SubnetId }) => SubnetId)].map((id) => id && `subnet/${id}`),
    ...[...(data.SecurityGroupIds ?? []), ...interfaces.flatMap(({ Groups = [] }) => Groups)].map((id) => `security-group/${id}`),
    reservation && `capacity-reservation/${reservation}`,
    data.Placement?.GroupName && `placement-group/${data.Placement.GroupName}`,
    data.Placement?.GroupId && `placement-group/${data.Placement.GroupId}`,
  ];
  return [...new Set(found.flatMap((resource) => resource || []))];
}

/** A launch with an instance profile passes the profile's role to EC2. */
function passing({ instanceProfiles, account }: FakeAwsState, { IamInstanceProfile }: RequestLaunchTemplateData): readonly Question[] {
  const name = IamInstanceProfile?.Name ?? IamInstanceProfile?.Arn?.split("/").at(-1);
  const role = name === undefined ? undefined : instanceProfiles.get(name)?.role;
  return role === undefined ? [] : [passRole(account, role)];
}

/** iam:PassRole, checked when a role is given to an instance or added to a profile. */
export function passRole(account: string, role: string): Question {
  return {
    action: "iam:PassRole",
    resource: `arn:aws:iam::${account}:role/${role}`,
    context: { "iam:PassedToService": "ec2.amazonaws.com" },
  };
}

/** The tags of a request as condition keys. */
export function requested(tags: Tags): RequestContext {
  return { ...keyed("aws:RequestTag", tags), ...(tags.size > 0 && { "aws:TagKeys": [...tags.keys()] }) };
}

/** The tags of a resource as condition keys. */
export function existing(tags: FakeInstanceProfile["tags"] | undefined): RequestContext {
  return keyed("aws:ResourceTag", tags ?? new Map());
}

function keyed(prefix: string, tags: Tags): RequestContext {
  return Object.fromEntries([...tags].map(([key, value]) => [`${prefix}/${key}`, value]));
}

/** The API's list of tags as a map. */
export function tagMap(tags: unknown): Tags {
  return new Map(((tags ?? []) as readonly { Key?: string; Value?: string }[]).map(({ Key = "", Value = "" }) => [Key, Value]));
}

const specifications = (params: Readonly<Record<string, unknown>>): readonly TagSpecification[] =>
  (params["TagSpecifications"] ?? []) as readonly TagSpecification[];

function tagsFor(type: string, all: readonly TagSpecification[]): Tags {
  return new Map(all.filter(({ ResourceType }) => ResourceType === type).flatMap(({ Tags: tags }) => [...tagMap(tags)]));
}

function named(world: FakeAwsState, spec: Parameters<typeof templateOf>[1]): FakeLaunchTemplate | undefined {
  try {
    return templateOf(world, { ...spec, Version: "$Latest" }).template;
  } catch (error) {
    if (error instanceof AwsError) return undefined;
    throw error;
  }
}

const strings = (value: unknown): readonly string[] => (value ?? []) as readonly string[];

const RESOURCE_TYPES: Readonly<Record<string, string>> = { i: "instance", lt: "launch-template", vol: "volume", eni: "network-interface" };

function resourceOf(id: string): string {
  return `${RESOURCE_TYPES[id.split("-")[0] ?? ""] ?? "unknown"}/${id}`;
}

function unique(questions: readonly Question[]): readonly Question[] {
  return [...new Map(questions.map((question) => [JSON.stringify(question), question])).values()];
}
