import type { CreateTagsRequest, DeleteTagsRequest } from "@aws-sdk/client-ec2";
import { AwsError, dryRunPassed, missing } from "../errors.ts";
import type { FakeAwsState, Tags } from "../world.ts";
import { addTags } from "./instance-life.ts";
import { byIds } from "./instances.ts";

function tagsOf(world: FakeAwsState, id: string): Tags {
  if (id.startsWith("i-")) {
    const [instance] = byIds(world, [id]);
    if (instance) return instance.tags;
  }
  const found =
    world.launchTemplates.get(id) ??
    world.subnets.get(id) ??
    world.securityGroups.get(id) ??
    world.images.get(id) ??
    [...world.fleets.values()].find((fleet) => fleet.id === id);
  if (!found) throw new AwsError("InvalidID", `The ID '${id}' is not valid`);
  return found.tags;
}

export function createTags(world: FakeAwsState, request: CreateTagsRequest): Record<string, unknown> {
  if (!request.Resources?.length) throw missing("ResourceId");
  if (!request.Tags?.length) throw missing("Tag");
  const all = request.Resources.map((id) => tagsOf(world, id));
  if (request.DryRun) throw dryRunPassed();
  // The tags are added to copies first, so that a refusal changes no resource.
  for (const tags of all) addTags(new Map(tags), request.Tags);
  for (const tags of all) addTags(tags, request.Tags);
  return { Return: true };
}

/** A tag with a value is removed only when the value is equal; without Tags all tags of the user are removed. */
export function deleteTags(world: FakeAwsState, request: DeleteTagsRequest): Record<string, unknown> {
  if (!request.Resources?.length) throw missing("ResourceId");
  const all = request.Resources.map((id) => tagsOf(world, id));
  if (request.DryRun) throw dryRunPassed();
  for (const tags of all) {
    const doomed = request.Tags ?? [...tags.keys()].filter((key) => !key.startsWith("aws:")).map((Key) => ({ Key, Value: undefined }));
    for (const { Key = "", Value } of doomed) {
      if (Value === undefined || tags.get(Key) === Value) tags.delete(Key);
    }
  }
  return { Return: true };
}
