import { cloudFormation, members, type StackReader, text } from "#adapters/aws/stack-outputs.ts";
import type { Change } from "../upgrade/change-set.ts";

/** The state of a change set. */
export interface ChangeSet {
  /** "CREATE_COMPLETE" when it can be executed, "FAILED" also when there is nothing to change. */
  readonly status: string;
  readonly reason: string;
  readonly changes: readonly Change[];
}

/** Change sets of CloudFormation. */
export interface ChangeSets {
  /** Begins to compute one that brings an existing stack to the template. */
  readonly create: (stack: string, name: string, templateUrl: string) => Promise<void>;
  /** Undefined when there is none of this name. */
  readonly describe: (stack: string, name: string) => Promise<ChangeSet | undefined>;
  readonly execute: (stack: string, name: string) => Promise<void>;
  /** Does nothing when there is none. */
  readonly remove: (stack: string, name: string) => Promise<void>;
}

const CAPABILITIES = { "Capabilities.member.1": "CAPABILITY_NAMED_IAM", "Capabilities.member.2": "CAPABILITY_IAM" };

const isMissing = (error: unknown): boolean => error instanceof Error && /does not exist|ChangeSetNotFound/.test(error.message);

export function cloudFormationChangeSets(reader: StackReader): ChangeSets {
  return {
    create: async (StackName, ChangeSetName, TemplateURL) => {
      await cloudFormation("CreateChangeSet", { StackName, ChangeSetName, ChangeSetType: "UPDATE", TemplateURL, ...CAPABILITIES }, reader);
    },
    describe: async (StackName, ChangeSetName) => {
      const changes: Change[] = [];
      let token = "";
      try {
        for (;;) {
          const input = { StackName, ChangeSetName, ...(token !== "" && { NextToken: token }) };
          const xml = await cloudFormation("DescribeChangeSet", input, reader);
          changes.push(...changesOf(xml));
          token = text(xml, "NextToken");
          if (token === "") return { status: text(xml, "Status"), reason: text(xml, "StatusReason"), changes };
        }
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    execute: async (StackName, ChangeSetName) => {
      await cloudFormation("ExecuteChangeSet", { StackName, ChangeSetName }, reader);
    },
    remove: async (StackName, ChangeSetName) => {
      try {
        await cloudFormation("DeleteChangeSet", { StackName, ChangeSetName }, reader);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

/** The changes in an answer to DescribeChangeSet, whose lists nest. */
function changesOf(xml: string): readonly Change[] {
  return [...xml.matchAll(/<ResourceChange>([\s\S]*?)<\/ResourceChange>/g)].map(([, change = ""]) => {
    const [details = ""] = /<Details>[\s\S]*<\/Details>/.exec(change) ?? [];
    const rest = change.replace(details, "");
    const targets = members(details).map((member) => text(member, "Name") || text(member, "Attribute"));
    return {
      action: text(rest, "Action") as Change["action"],
      name: text(rest, "LogicalResourceId"),
      id: text(rest, "PhysicalResourceId"),
      type: text(rest, "ResourceType"),
      replacement: (text(rest, "Replacement") || "False") as Change["replacement"],
      // CDK writes into the metadata of functions where their code came from, which changes nothing.
      what: [...new Set(targets.filter((target) => target !== "" && target !== "Metadata"))],
    };
  });
}
