import * as sdk from "@aws-sdk/client-iam";
import { AwsError } from "./errors.ts";
import type { OperationSchema } from "./wire/schema.ts";
import { type FakeAwsState, type FakeInstanceProfile, tagList } from "./world.ts";

export type IamAction = {
  readonly operation: OperationSchema;
  readonly handle: (world: FakeAwsState, request: Record<string, unknown>) => unknown;
};

const action = <I>(operation: unknown, handle: (world: FakeAwsState, request: I) => unknown): IamAction => ({
  operation: operation as OperationSchema,
  handle: (world, request) => handle(world, request as I),
});

const NAME = /^[\w+=,.@-]{1,128}$/;

function profileOf(world: FakeAwsState, name: string | undefined): FakeInstanceProfile {
  const profile = world.instanceProfiles.get(name ?? "");
  if (!profile) throw new AwsError("NoSuchEntity", `Instance Profile ${name} cannot be found.`, 404);
  return profile;
}

function roleExists(world: FakeAwsState, name: string): boolean {
  const roles = world.options.roles ?? [`KarpenterNodeRole-${world.cluster.name}`];
  return roles === "any" || roles.includes(name);
}

const describe = (world: FakeAwsState, profile: FakeInstanceProfile): sdk.InstanceProfile => ({
  Path: profile.path,
  InstanceProfileName: profile.name,
  InstanceProfileId: profile.id,
  Arn: `arn:aws:iam::${world.account}:instance-profile${profile.path}${profile.name}`,
  CreateDate: new Date(profile.createdAt),
  Roles:
    profile.role === undefined
      ? []
      : [
          {
            Path: "/",
            RoleName: profile.role,
            RoleId: "AROAFAKEFAKEFAKEFAKE0",
            Arn: `arn:aws:iam::${world.account}:role/${profile.role}`,
            CreateDate: new Date(0),
          },
        ],
  Tags: tagList(profile.tags),
});

/**
 * IAM's instance profiles: at most one role each, a role only by its bare name, no deletion while a role is attached.
 */
export const IAM_ACTIONS: Readonly<Record<string, IamAction>> = {
  CreateInstanceProfile: action<sdk.CreateInstanceProfileRequest>(sdk.CreateInstanceProfile$, (world, request) => {
    const name = request.InstanceProfileName ?? "";
    if (!NAME.test(name)) {
      throw new AwsError(
        "ValidationError",
        "The specified value for instanceProfileName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-",
      );
    }
    if (world.instanceProfiles.has(name)) throw new AwsError("EntityAlreadyExists", `Instance Profile ${name} already exists.`, 409);
    const profile: FakeInstanceProfile = {
      name,
      id: `AIPA${world.id("p").slice(2).toUpperCase()}`,
      path: request.Path ?? "/",
      createdAt: world.clock.now(),
      tags: new Map((request.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
    };
    world.instanceProfiles.set(name, profile);
    return { InstanceProfile: describe(world, profile) };
  }),

  GetInstanceProfile: action<sdk.GetInstanceProfileRequest>(sdk.GetInstanceProfile$, (world, { InstanceProfileName }) => ({
    InstanceProfile: describe(world, profileOf(world, InstanceProfileName)),
  })),

  AddRoleToInstanceProfile: action<sdk.AddRoleToInstanceProfileRequest>(sdk.AddRoleToInstanceProfile$, (world, request) => {
    const profile = profileOf(world, request.InstanceProfileName);
    const role = request.RoleName ?? "";
    if (role.includes("/")) {
      throw new AwsError(
        "ValidationError",
        "The specified value for roleName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-",
      );
    }
    if (!roleExists(world, role)) throw new AwsError("NoSuchEntity", `The role with name ${role} cannot be found.`, 404);
    if (profile.role !== undefined) {
      throw new AwsError("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1", 409);
    }
    profile.role = role;
    return {};
  }),

  RemoveRoleFromInstanceProfile: action<sdk.RemoveRoleFromInstanceProfileRequest>(sdk.RemoveRoleFromInstanceProfile$, (world, request) => {
    const profile = profileOf(world, request.InstanceProfileName);
    if (profile.role !== request.RoleName) {
      throw new AwsError("NoSuchEntity", `Role ${request.RoleName} in Instance Profile ${profile.name} cannot be found.`, 404);
    }
    delete profile.role;
    return {};
  }),

  DeleteInstanceProfile: action<sdk.DeleteInstanceProfileRequest>(sdk.DeleteInstanceProfile$, (world, request) => {
    const profile = profileOf(world, request.InstanceProfileName);
    if (profile.role !== undefined) {
      throw new AwsError("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409);
    }
    world.instanceProfiles.delete(profile.name);
    return {};
  }),

  ListInstanceProfiles: action<sdk.ListInstanceProfilesRequest>(sdk.ListInstanceProfiles$, (world, request) => {
    const all = [...world.instanceProfiles.values()].filter(({ path }) => path.startsWith(request.PathPrefix ?? "/"));
    const start = Number(request.Marker ?? 0);
    const end = start + (request.MaxItems ?? 100);
    return {
      InstanceProfiles: all.slice(start, end).map((profile) => describe(world, profile)),
      IsTruncated: end < all.length,
      ...(end < all.length ? { Marker: String(end) } : {}),
    };
  }),

  TagInstanceProfile: action<sdk.TagInstanceProfileRequest>(sdk.TagInstanceProfile$, (world, request) => {
    const profile = profileOf(world, request.InstanceProfileName);
    for (const { Key = "", Value = "" } of request.Tags ?? []) profile.tags.set(Key, Value);
    return {};
  }),
};
