import { DeleteTableCommand, DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { isNotFound } from "#adapters/aws/errors.ts";
import { allPages } from "#adapters/aws/pages.ts";
import type { SignedCaller } from "#adapters/aws/signed-fetch.ts";
import { cloudFormation, members, outputsOf, text } from "#adapters/aws/stack-outputs.ts";
import type { StackCalls, Tags } from "./ports.ts";

type Caller = (service: string) => Omit<SignedCaller, "service">;

const tagInput = (tags: Tags): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(tags).flatMap(([key, value], i) => [
      [`Tags.member.${i + 1}.Key`, key] as const,
      [`Tags.member.${i + 1}.Value`, value] as const,
    ]),
  );

/** CloudFormation and the tables of DynamoDB. */
export function stacksOnAws(region: string, caller: Caller): StackCalls {
  const reader = caller("CLOUDFORMATION");
  const dynamo = new DynamoDBClient({ region, credentials: reader.credentials });
  return {
    createStack: async ({ name, template, tags }) => {
      const capabilities = { "Capabilities.member.1": "CAPABILITY_IAM" };
      await cloudFormation("CreateStack", { StackName: name, TemplateBody: template, ...capabilities, ...tagInput(tags) }, reader);
    },
    stack: async (name) => {
      try {
        const xml = await cloudFormation("DescribeStacks", { StackName: name }, reader);
        return { status: text(xml, "StackStatus"), outputs: outputsOf(xml) };
      } catch (error) {
        if (error instanceof Error && error.message.includes("does not exist")) return undefined;
        throw error;
      }
    },
    failure: async (name) => {
      const events = members(await cloudFormation("DescribeStackEvents", { StackName: name }, reader));
      // The newest comes first; resources that were cancelled have failed because of another one.
      const failed = events.filter((event) => text(event, "ResourceStatus") === "CREATE_FAILED").toReversed();
      const first = failed.find((event) => !text(event, "ResourceStatusReason").includes("cancelled"));
      return first === undefined ? "" : `${text(first, "LogicalResourceId")}: ${text(first, "ResourceStatusReason")}`;
    },
    removeStack: async (name) => {
      await cloudFormation("DeleteStack", { StackName: name }, reader);
    },
    stacks: async (prefix) => {
      const names = await allPages(
        // Without a name: all stacks that are there.
        (NextToken) => cloudFormation("DescribeStacks", { ...(NextToken && { NextToken }) } as { readonly StackName: string }, reader),
        (xml) => [...xml.matchAll(/<StackName>([^<]*)<\/StackName>/g)].map(([, name = ""]) => name),
        (xml) => text(xml, "NextToken"),
      );
      return names.filter((name) => name.startsWith(prefix));
    },
    tables: async (prefix) => {
      const names = await allPages(
        (ExclusiveStartTableName) => dynamo.send(new ListTablesCommand({ ExclusiveStartTableName })),
        (page) => page.TableNames,
        (page) => page.LastEvaluatedTableName,
      );
      return names.filter((name) => name.startsWith(prefix));
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
