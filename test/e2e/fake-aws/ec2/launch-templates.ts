import type {
  CreateLaunchTemplateRequest,
  CreateLaunchTemplateResult,
  DeleteLaunchTemplateRequest,
  DeleteLaunchTemplateResult,
  DescribeLaunchTemplatesRequest,
  DescribeLaunchTemplatesResult,
  DescribeLaunchTemplateVersionsRequest,
  DescribeLaunchTemplateVersionsResult,
  LaunchTemplate,
  ResponseLaunchTemplateData,
} from "@aws-sdk/client-ec2";
import { AwsError, dryRunPassed, missing } from "../errors.ts";
import { type FakeAwsState, type FakeLaunchTemplate, tagList } from "../world.ts";
import type { CallContext } from "./capacity.ts";
import { tagsFor } from "./instance-life.ts";
import { decodeUserData, templateOf } from "./launch-data.ts";
import { type Facets, page, select } from "./select.ts";

const NAME = /^[a-zA-Z0-9().\-/_]{3,128}$/;

const FACETS: Facets<FakeLaunchTemplate> = {
  "launch-template-name": ({ name }) => name,
  "create-time": ({ createTime }) => createTime.toISOString(),
};

const described = (template: FakeLaunchTemplate): LaunchTemplate => ({
  LaunchTemplateId: template.id,
  LaunchTemplateName: template.name,
  CreateTime: template.createTime,
  CreatedBy: template.createdBy,
  DefaultVersionNumber: 1,
  LatestVersionNumber: template.versions.length,
  Tags: tagList(template.tags),
});

/** As in EC2, references of the template are checked at launch and not here; the size of user data is checked here. */
export function createLaunchTemplate(
  world: FakeAwsState,
  request: CreateLaunchTemplateRequest,
  { call }: CallContext,
): CreateLaunchTemplateResult {
  const name = request.LaunchTemplateName;
  if (name === undefined) throw missing("LaunchTemplateName");
  if (request.LaunchTemplateData === undefined) throw missing("LaunchTemplateData");
  if (!NAME.test(name)) {
    throw new AwsError(
      "InvalidLaunchTemplateName.MalformedException",
      "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _.",
    );
  }
  if ([...world.launchTemplates.values()].some((other) => other.name === name)) {
    throw new AwsError("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.");
  }
  decodeUserData(request.LaunchTemplateData.UserData);
  const tags = tagsFor("launch-template", request.TagSpecifications ?? []);
  if (request.DryRun) throw dryRunPassed();
  const template: FakeLaunchTemplate = {
    id: world.id("lt"),
    name,
    createTime: new Date(world.clock.now()),
    createdBy: `arn:aws:sts::${world.account}:assumed-role/${call.role}/fake`,
    tags,
    versions: [request.LaunchTemplateData],
    versionDescriptions: [request.VersionDescription],
  };
  world.launchTemplates.set(template.id, template);
  return { LaunchTemplate: described(template) };
}

export function describeLaunchTemplates(world: FakeAwsState, request: DescribeLaunchTemplatesRequest): DescribeLaunchTemplatesResult {
  const { LaunchTemplateIds: ids = [], LaunchTemplateNames: names = [] } = request;
  const all = [...world.launchTemplates.values()];
  for (const name of names) {
    if (!all.some((template) => template.name === name)) {
      throw new AwsError(
        "InvalidLaunchTemplateName.NotFoundException",
        "At least one of the launch templates specified in the request does not exist.",
      );
    }
  }
  for (const id of ids) {
    if (!world.launchTemplates.has(id)) {
      throw new AwsError("InvalidLaunchTemplateId.NotFound", `The specified launch template, with template ID ${id}, does not exist.`);
    }
  }
  const named = all.filter(({ id, name }) => (ids.length === 0 || ids.includes(id)) && (names.length === 0 || names.includes(name)));
  const { items, next } = page(select(named, request.Filters, FACETS), request, { min: 1, max: 200 });
  return { LaunchTemplates: items.map(described), ...(next === undefined ? {} : { NextToken: next }) };
}

export function describeLaunchTemplateVersions(
  world: FakeAwsState,
  request: DescribeLaunchTemplateVersionsRequest,
): DescribeLaunchTemplateVersionsResult {
  const { template } = templateOf(world, { ...request, Version: "$Default" });
  const wanted = request.Versions?.length
    ? request.Versions.map((Version) => templateOf(world, { LaunchTemplateId: template.id, Version }).version)
    : template.versions.map((_, i) => i + 1);
  const versions = [...new Set(wanted)].flatMap((number) => {
    const data = template.versions[number - 1];
    return data ? [{ number, data }] : [];
  });
  const { items, next } = page(versions, request, { min: 1, max: 200 });
  return {
    LaunchTemplateVersions: items.map(({ number, data }) => {
      const description = template.versionDescriptions[number - 1];
      return {
        LaunchTemplateId: template.id,
        LaunchTemplateName: template.name,
        VersionNumber: number,
        ...(description === undefined ? {} : { VersionDescription: description }),
        CreateTime: template.createTime,
        CreatedBy: template.createdBy,
        DefaultVersion: number === 1,
        // The shapes of the request and of the answer differ only in the names of their types.
        LaunchTemplateData: data as ResponseLaunchTemplateData,
      };
    }),
    ...(next === undefined ? {} : { NextToken: next }),
  };
}

export function deleteLaunchTemplate(world: FakeAwsState, request: DeleteLaunchTemplateRequest): DeleteLaunchTemplateResult {
  if (request.LaunchTemplateId === undefined && request.LaunchTemplateName === undefined) throw missing("LaunchTemplateId");
  const { template } = templateOf(world, request);
  if (request.DryRun) throw dryRunPassed();
  world.launchTemplates.delete(template.id);
  return { LaunchTemplate: described(template) };
}
