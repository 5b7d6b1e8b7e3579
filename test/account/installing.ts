import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type DeploymentSettings, parseSettings } from "#infra/settings.ts";
import { makeStacks, synthesized } from "#infra/synthesis.ts";
import { awsPorts } from "#installer/account/aws-ports.ts";
import type { InstallPorts } from "#installer/account/ports.ts";
import { install } from "#installer/install/install.ts";
import { awsJson, awsQuery, awsRequest } from "../e2e/support/aws-call.ts";
import { World } from "../installer/install/world.ts";
import type { Account } from "./account.ts";
import { ACCOUNT, REGION } from "./account-of.ts";

// `install` as the program runs it, against an account model; the cluster's API server is a stand-in in memory.

export interface Ran {
  /** The last words: what it says at the end, or the sentence of its error. */
  readonly end: string;
  readonly failed: boolean;
  /** All lines. */
  readonly text: string;
}

/** The commands read these, as they would on a person's machine. */
export function asPerson(account: Account): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: account.url,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: REGION,
  });
}

/** It answers with the path by which it was called. */
const ECHO =
  "export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify({ path: event.rawPath ?? event.path ?? '' }) });";

/** Code of the functions that starts at once, because what they do is not the question here. */
function codeIn(dir: string): Code {
  const folder = join(dir, "code");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.mjs"), ECHO);
  return Code.fromAsset(folder);
}

/** An installer of cluster c1 into the account; `settings` are those of a settings file. */
export function installer(dir: string, world = new World()) {
  return async (settings: object = {}, hasEndpointOption = false, dryRun = false): Promise<Ran> => {
    const lines: string[] = [];
    try {
      const parsed = parseSettings({ clusters: [{ name: "c1" }], enforceTls: false, ...settings }, "settings.json", () => {});
      const ports: InstallPorts = {
        ...awsPorts(REGION),
        clusterApi: world.ports().clusterApi,
        synthesize: async (given: DeploymentSettings, outDir) => {
          synthesized(makeStacks({ settings: given, outDir, code: () => codeIn(dir) }), given, outDir);
        },
        sleep: (ms) => sleep(Math.min(ms, 200)),
      };
      const options = {
        cluster: "c1",
        region: REGION,
        settings: parsed,
        hasEndpointOption,
        tagNetwork: false,
        withDefaultPool: true,
        dryRun,
      };
      const { output } = await install(options, ports, (line) => lines.push(line));
      return { end: output.trim(), failed: false, text: lines.join("\n") };
    } catch (error) {
      return { end: error instanceof Error ? error.message : String(error), failed: true, text: lines.join("\n") };
    }
  };
}

/** What a deployment can leave in the account, by kind, each with its names. */
export async function found({ ministack }: Account) {
  const json = async (service: string, target: string, key: string, input: object = {}): Promise<readonly string[]> => {
    const answer = await awsJson<Readonly<Record<string, readonly (string | Readonly<Record<string, string>>)[]>>>(
      ministack,
      service,
      target,
      input,
    );
    return (answer[key] ?? []).map((one) => (typeof one === "string" ? one : (one["Name"] ?? one["logGroupName"] ?? JSON.stringify(one))));
  };
  const rest = async (service: string, path: string, pattern: RegExp): Promise<readonly string[]> =>
    [...(await awsRequest(ministack, service, { method: "GET", path })).matchAll(pattern)].map(([, name = ""]) => name);
  const query = async (service: string, version: string, action: string, pattern: RegExp): Promise<readonly string[]> =>
    [...(await awsQuery(ministack, service, version, action, {})).matchAll(pattern)].map(([, name = ""]) => name);
  return {
    stacks: await query(
      "cloudformation",
      "2010-05-15",
      "ListStacks",
      /<StackName>([^<]+)<\/StackName>(?:(?!<member>)[\s\S])*?<StackStatus>(?!DELETE_COMPLETE)/g,
    ),
    tables: await json("dynamodb", "DynamoDB_20120810.ListTables", "TableNames"),
    queues: await json("sqs", "AmazonSQS.ListQueues", "QueueUrls"),
    functions: await rest("lambda", "/2015-03-31/functions/", /"FunctionName": ?"([^"]+)"/g),
    sources: await rest("lambda", "/2015-03-31/event-source-mappings/", /"UUID": ?"([^"]+)"/g),
    // EKS makes a cluster's own.
    logGroups: (await json("logs", "Logs_20140328.DescribeLogGroups", "logGroups")).filter((name) => !name.startsWith("/aws/eks/")),
    secrets: await json("secretsmanager", "secretsmanager.ListSecrets", "SecretList"),
    rules: await json("events", "AWSEvents.ListRules", "Rules"),
    schedules: await rest("scheduler", "/schedules", /"Arn": ?"(arn:aws:scheduler[^"]+)"/g),
    apis: [
      ...(await rest("apigateway", "/v2/apis", /"apiId": ?"([^"]+)"/gi)),
      ...(await rest("apigateway", "/restapis", /"id": ?"([^"]+)"/g)),
    ],
    roles: (await query("iam", "2010-05-08", "ListRoles", /<RoleName>([^<]+)</g)).filter((name) => /karpenter/i.test(name)),
    profiles: await query("iam", "2010-05-08", "ListInstanceProfiles", /<InstanceProfileName>([^<]+)</g),
  };
}

/** Makes the log groups of EKS that the account is to have, and removes others: `install` asks for them beforehand. */
export async function matchLogGroups({ ministack, settings }: Account): Promise<void> {
  const call = (action: string, input: object) =>
    awsJson<{ readonly logGroups?: readonly { readonly logGroupName: string }[] }>(ministack, "logs", `Logs_20140328.${action}`, input);
  const { logGroups = [] } = await call("DescribeLogGroups", { logGroupNamePrefix: "/aws/eks/" });
  const there = logGroups.map(({ logGroupName }) => logGroupName);
  const wanted = Object.keys(settings.logGroups);
  for (const logGroupName of wanted.filter((name) => !there.includes(name))) await call("CreateLogGroup", { logGroupName });
  for (const logGroupName of there.filter((name) => !wanted.includes(name))) await call("DeleteLogGroup", { logGroupName });
}

/** Removes the stack, with its table, so that the next case begins in an empty account. */
export async function clear(account: Account): Promise<void> {
  const { ministack } = account;
  const names = [...new Set((await found(account)).stacks)];
  for (const StackName of names) {
    await awsQuery(ministack, "cloudformation", "2010-05-15", "DeleteStack", { StackName });
    for (let tries = 0; tries < 100 && (await found(account)).stacks.includes(StackName); tries += 1) await sleep(100);
  }
  for (const TableName of (await found(account)).tables)
    await awsJson(ministack, "dynamodb", "DynamoDB_20120810.DeleteTable", { TableName });
  account.settle();
}
