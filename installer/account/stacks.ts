import { cloudFormation, members, outputsOf, type StackReader, text } from "#adapters/aws/stack-outputs.ts";
import { isJsonObject } from "#core/lib/json.ts";
import type { StackEvent, StackResource, Stacks } from "./ports.ts";
import { isBegin } from "./stack-state.ts";

const CAPABILITIES = { "Capabilities.member.1": "CAPABILITY_NAMED_IAM", "Capabilities.member.2": "CAPABILITY_IAM" };

/** CloudFormation, of one region. */
export function cloudFormationStacks(reader: StackReader): Stacks {
  return {
    describe: async (name) => {
      try {
        const xml = await cloudFormation("DescribeStacks", { StackName: name }, reader);
        const createdAt = Date.parse(text(xml, "CreationTime"));
        return { status: text(xml, "StackStatus"), outputs: outputsOf(xml), ...(!Number.isNaN(createdAt) && { createdAt }) };
      } catch (error) {
        if (error instanceof Error && error.message.includes("does not exist")) return undefined;
        throw error;
      }
    },
    create: async (name, templateUrl) => {
      await cloudFormation("CreateStack", { StackName: name, TemplateURL: templateUrl, ...CAPABILITIES }, reader);
    },
    update: async (name, templateUrl) => {
      try {
        await cloudFormation("UpdateStack", { StackName: name, TemplateURL: templateUrl, ...CAPABILITIES }, reader);
        return true;
      } catch (error) {
        if (error instanceof Error && error.message.includes("No updates are to be performed")) return false;
        throw error;
      }
    },
    remove: async (name) => {
      await cloudFormation("DeleteStack", { StackName: name }, reader);
    },
    events: async (name) => {
      const found: StackEvent[] = [];
      for await (const page of pages("DescribeStackEvents", name, reader)) {
        const events = page.map((event) => ({
          id: text(event, "EventId"),
          resource: text(event, "LogicalResourceId"),
          type: text(event, "ResourceType"),
          status: text(event, "ResourceStatus"),
          reason: text(event, "ResourceStatusReason"),
        }));
        found.push(...events);
        if (events.some((event) => isBegin(event, name))) break;
      }
      return found;
    },
    resources: async (name) => {
      const found: StackResource[] = [];
      for await (const page of pages("ListStackResources", name, reader)) found.push(...page.map(resourceOf));
      return found;
    },
    metadata: async (name) => {
      const body = text(await cloudFormation("GetTemplate", { StackName: name, TemplateStage: "Original" }, reader), "TemplateBody");
      const template: unknown = isJson(body) ? JSON.parse(body) : {};
      return isJsonObject(template) && isJsonObject(template["Metadata"]) ? template["Metadata"] : {};
    },
  };
}

/** A template of SAM is YAML, and says nothing that is read here. */
const isJson = (body: string): boolean => body.trimStart().startsWith("{");

const resourceOf = (member: string): StackResource => ({
  name: text(member, "LogicalResourceId"),
  type: text(member, "ResourceType"),
  id: text(member, "PhysicalResourceId"),
});

/** The list members of each page of an answer. */
async function* pages(action: string, StackName: string, reader: StackReader): AsyncGenerator<readonly string[]> {
  let token = "";
  do {
    const xml = await cloudFormation(action, { StackName, ...(token !== "" && { NextToken: token }) }, reader);
    yield members(xml);
    token = text(xml, "NextToken");
  } while (token !== "");
}
