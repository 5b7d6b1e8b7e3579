import { DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { CredentialSource } from "#adapters/aws/assume-role.ts";
import { ec2Client, iamClient } from "#adapters/aws/clients.ts";
import { isNotFound } from "#adapters/aws/errors.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { listInstanceProfiles, removeInstanceProfile } from "#adapters/aws/instance-profile.ts";
import { jsonCall } from "#adapters/aws/json-call.ts";
import { allPages } from "#adapters/aws/pages.ts";
import type { SignedCaller } from "#adapters/aws/signed-fetch.ts";
import { profilePath } from "#core/node-class/instance-profile.ts";
import type { LeftBehind } from "./ports.ts";

interface TaggedPage {
  readonly ResourceTagMappingList?: readonly { readonly ResourceARN: string }[];
  readonly PaginationToken?: string;
}

/** What clusters leave in an account, on AWS. `tagging` is who asks for resources by their tags. */
export function leftBehindOnAws(region: string, credentials: CredentialSource, tagging: Omit<SignedCaller, "service">): LeftBehind {
  const iam = iamClient(region, credentials);
  const fleet = ec2Fleet(ec2Client(region, credentials));
  const dynamo = new DynamoDBClient({ region, credentials });
  return {
    instances: async (cluster) => (await fleet.list(cluster)).filter(({ state }) => state !== "shutting-down").map(({ id }) => id),
    terminate: async (ids) => {
      await Promise.all(ids.map((id) => fleet.terminate(id)));
    },
    removeLaunchTemplates: async (cluster) => (await fleet.removeLaunchTemplates?.(cluster, Number.POSITIVE_INFINITY)) ?? 0,
    instanceProfiles: async (cluster) => (await listInstanceProfiles(iam, profilePath(cluster, region))).map(({ name }) => name),
    removeInstanceProfile: (name) => removeInstanceProfile(iam, name),
    tables: async (stack) => {
      const TagFilters = [
        { Key: "app.kubernetes.io/name", Values: ["karpenter-serverless"] },
        { Key: "aws:cloudformation:stack-name", Values: [stack] },
      ];
      const found = await allPages(
        (PaginationToken) =>
          jsonCall<TaggedPage>(
            { ...tagging, service: "tagging" },
            {
              target: "ResourceGroupsTaggingAPI_20170126.GetResources",
              input: { TagFilters, ResourceTypeFilters: ["dynamodb:table"], ...(PaginationToken && { PaginationToken }) },
              doing: `looking for tables of stack ${stack} by their tags`,
            },
          ),
        (page) => page.ResourceTagMappingList,
        (page) => page.PaginationToken,
      );
      return found.map(({ ResourceARN: arn }) => arn.slice(arn.lastIndexOf("/") + 1));
    },
    removeTable: async (TableName) => {
      try {
        await dynamo.send(new DeleteTableCommand({ TableName }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
}
