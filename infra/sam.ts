import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { stringify } from "yaml";
import { makeApp, USAGE } from "./app.ts";
import { bundleCode } from "./build.ts";
import { DIST } from "./dist.ts";
import { endWith } from "./end-with.ts";
import { FUNCTION_NAMES } from "./functions.ts";
import type { DeploymentSettings } from "./settings.ts";
import { settingsFrom } from "./synthesis.ts";

/**
 * Bundles the functions and writes dist/template.sam.yaml: the same stack for those who deploy with SAM. Takes the
 * arguments of infra/app.ts. `sam deploy -t dist/template.sam.yaml --stack-name NAME --resolve-s3 --capabilities
 * CAPABILITY_NAMED_IAM`. All names begin with NAME, whatever it is.
 */

/** In place of the stack's name until it is replaced by what CloudFormation says. */
const STACK_NAME = "AwsStackName";

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: unknown;
}

/** The stack as a SAM template whose functions' code is next to it, in a folder per function. */
export function samTemplate(settings: DeploymentSettings): object {
  const { stack } = makeApp({ settings: { ...settings, stackName: STACK_NAME }, code: () => Code.fromInline("// replaced by CodeUri") });
  const { Resources, Parameters, Outputs, Description, Metadata } = Template.fromStack(stack).toJSON();
  // CDK's own parameter needs its bootstrap stack, which SAM does not.
  const { BootstrapVersion: _, ...parameters } = (Parameters ?? {}) as Readonly<Record<string, unknown>>;
  const resources = Object.entries(Resources as Readonly<Record<string, Resource>>);
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Description,
    Metadata: named(Metadata, (text) => text.replaceAll(STACK_NAME, settings.stackName)),
    ...(Object.keys(parameters).length > 0 && { Parameters: parameters }),
    Resources: Object.fromEntries(
      resources.map(([id, { Metadata: _metadata, ...resource }]) => [id, named(asSam(resource, stack.stackName), byCloudFormation)]),
    ),
    Outputs: named(Outputs, byCloudFormation),
  };
}

/** A part of the template in which every text with the stack's name is replaced. */
function named(part: unknown, replace: (text: string) => unknown): unknown {
  if (typeof part === "string") return part.includes(STACK_NAME) ? replace(part) : part;
  if (Array.isArray(part)) return part.map((one) => named(one, replace));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, named(value, replace)]));
}

/** "${!" is a plain "${" there. */
const byCloudFormation = (text: string): object =>
  text === STACK_NAME
    ? { Ref: "AWS::StackName" }
    : // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
      { "Fn::Sub": text.replaceAll("${", "${!").replaceAll(STACK_NAME, "${AWS::StackName}") };

function asSam(resource: Resource, stackName: string): object {
  if (resource.Type !== "AWS::Lambda::Function") {
    return resource;
  }
  const { Code: _code, Tags, ...properties } = resource.Properties ?? {};
  const tags = (Tags ?? []) as readonly { readonly Key: string; readonly Value: string }[];
  return {
    ...resource,
    Type: "AWS::Serverless::Function",
    Properties: {
      ...properties,
      CodeUri: `./${String(properties["FunctionName"]).slice(stackName.length + 1)}`,
      Tags: Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value])),
    },
  };
}

async function main(): Promise<void> {
  const { settings } = settingsFrom(process.argv.slice(2));
  for (const name of FUNCTION_NAMES) {
    await bundleCode(name, DIST);
  }
  mkdirSync(DIST, { recursive: true });
  const file = join(DIST, "template.sam.yaml");
  // CloudFormation reads YAML 1.1, in which an unquoted OFF is false and 2012-10-17 a date.
  writeFileSync(file, stringify(samTemplate(settings), { version: "1.1", lineWidth: 0 }));
  console.log(file);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    endWith(error, USAGE("sam"));
  }
}
