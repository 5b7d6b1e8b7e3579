import {
  CreateFleetCommand,
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplatesCommand,
  type ResourceType,
  type TagSpecification,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { GetParameterCommand } from "@aws-sdk/client-ssm";
import type { CredentialSource } from "#adapters/aws/assume-role.ts";
import { ec2Client, ssmClient } from "#adapters/aws/clients.ts";
import { codeOf } from "#adapters/aws/errors.ts";
import { allPages } from "#adapters/aws/pages.ts";
import type { MachineCalls, Tag, Tags } from "./ports.ts";

const tagged = (types: readonly ResourceType[], tags: Tags): TagSpecification[] =>
  types.map((ResourceType) => ({ ResourceType, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }));

const filterOf = ({ key, value }: Tag) =>
  value === undefined ? { Name: "tag-key", Values: [key] } : { Name: `tag:${key}`, Values: [value] };

const ALIVE = ["pending", "running", "stopping", "stopped"];

export function machinesOnAws(region: string, credentials: CredentialSource): MachineCalls {
  const ec2 = ec2Client(region, credentials);
  const next = (page: { readonly NextToken?: string | undefined }): string | undefined => page.NextToken;
  return {
    createTemplate: async ({ name, instanceType, imageParameter, tags }) => {
      // A fleet may not resolve the parameter itself.
      const { Parameter } = await ssmClient(region, credentials).send(new GetParameterCommand({ Name: imageParameter }));
      const LaunchTemplateData = {
        ...{ ImageId: Parameter?.Value, InstanceType: instanceType as "t4g.nano" },
        ...{ MetadataOptions: { HttpTokens: "required" as const }, TagSpecifications: tagged(["instance", "volume"], tags) },
      };
      await ec2.send(
        new CreateLaunchTemplateCommand({
          LaunchTemplateName: name,
          LaunchTemplateData,
          TagSpecifications: tagged(["launch-template"], tags),
        }),
      );
    },
    templates: async (tag) => {
      const found = await allPages(
        (NextToken) => ec2.send(new DescribeLaunchTemplatesCommand({ Filters: [filterOf(tag)], NextToken })),
        (page) => page.LaunchTemplates,
        next,
      );
      return found.flatMap(({ LaunchTemplateName: name }) => name ?? []);
    },
    removeTemplate: async (LaunchTemplateName) => {
      try {
        await ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName }));
      } catch (error) {
        if (!codeOf(error).startsWith("InvalidLaunchTemplateName.NotFound")) throw error;
      }
    },
    launch: async ({ template, subnet, token, tags }) => {
      const { Instances = [], Errors = [] } = await ec2.send(
        new CreateFleetCommand({
          ...{ Type: "instant", ClientToken: token, TagSpecifications: tagged(["fleet", "instance", "volume"], tags) },
          TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: "on-demand" },
          LaunchTemplateConfigs: [
            {
              LaunchTemplateSpecification: { LaunchTemplateName: template, Version: "$Latest" },
              Overrides: [{ SubnetId: subnet }],
            },
          ],
        }),
      );
      const ids = Instances.flatMap(({ InstanceIds = [] }) => InstanceIds);
      const [first] = Errors;
      if (ids.length === 0 && first !== undefined) throw new Error(`CreateFleet: ${first.ErrorCode}: ${first.ErrorMessage}`);
      return ids;
    },
    state: async (id) => {
      try {
        const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
        return Reservations[0]?.Instances?.[0]?.State?.Name;
      } catch (error) {
        if (codeOf(error) === "InvalidInstanceID.NotFound") return undefined;
        throw error;
      }
    },
    instances: async (tag) => {
      const Filters = [filterOf(tag), { Name: "instance-state-name", Values: ALIVE }];
      const found = await allPages(
        (NextToken) => ec2.send(new DescribeInstancesCommand({ Filters, NextToken })),
        (page) => page.Reservations,
        next,
      );
      return found.flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId: id }) => id ?? []));
    },
    terminate: async (ids) => {
      await ec2.send(new TerminateInstancesCommand({ InstanceIds: [...ids] }));
    },
  };
}
