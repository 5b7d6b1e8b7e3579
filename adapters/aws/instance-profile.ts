import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  type IAMClient,
  ListInstanceProfilesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from "@aws-sdk/client-iam";
import type { CloudInventory, ListedProfile } from "#core/ports/cloud-inventory.ts";
import { isAlreadyThere, isNotFound, toDomainError } from "./errors.ts";
import { toTags } from "./launch-template-data.ts";
import { allPages } from "./pages.ts";

/** Creates the instance profile with its role unless it exists; may be repeated after any failure. Returns its name. */
export async function ensureInstanceProfile(
  iam: IAMClient,
  profile: Parameters<CloudInventory["ensureInstanceProfile"]>[0],
): Promise<string> {
  const InstanceProfileName = profile.name;
  try {
    const roles = (await rolesOf(iam, InstanceProfileName)) ?? (await create(iam, profile));
    if (roles.includes(profile.role)) return profile.name;
    for (const RoleName of roles) await iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName, RoleName }));
    try {
      await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName: profile.role }));
    } catch (error) {
      // A profile holds one role, and another invocation may have added it just now.
      if (!(await rolesOf(iam, InstanceProfileName))?.includes(profile.role)) throw error;
    }
    return profile.name;
  } catch (error) {
    throw toDomainError(error);
  }
}

/** Names of the roles in a profile; undefined when there is no such profile. */
async function rolesOf(iam: IAMClient, InstanceProfileName: string): Promise<readonly string[] | undefined> {
  try {
    const { InstanceProfile } = await iam.send(new GetInstanceProfileCommand({ InstanceProfileName }));
    return (InstanceProfile?.Roles ?? []).flatMap(({ RoleName }) => RoleName ?? []);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function create(
  iam: IAMClient,
  { name, path, tags }: { readonly name: string; readonly path: string; readonly tags: Readonly<Record<string, string>> },
) {
  try {
    await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: name, Path: path, Tags: toTags(tags) }));
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
  return [];
}

/** Removes a profile and the roles in it; a missing profile counts as removed. */
export async function removeInstanceProfile(iam: IAMClient, InstanceProfileName: string): Promise<void> {
  try {
    const roles = await rolesOf(iam, InstanceProfileName);
    if (roles === undefined) return;
    for (const RoleName of roles) {
      await iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName, RoleName }));
    }
    await iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName }));
  } catch (error) {
    if (!isNotFound(error)) throw toDomainError(error);
  }
}

/** Profiles whose path has this prefix. */
export async function listInstanceProfiles(iam: IAMClient, PathPrefix: string): Promise<readonly ListedProfile[]> {
  const profiles = await allPages(
    (Marker) => iam.send(new ListInstanceProfilesCommand({ PathPrefix, Marker })),
    (page) => page.InstanceProfiles,
    (page) => page.Marker,
  );
  return profiles.flatMap(({ InstanceProfileName: name, CreateDate }) =>
    name !== undefined && CreateDate ? [{ name, createdAt: CreateDate.getTime() }] : [],
  );
}
