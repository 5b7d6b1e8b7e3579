import { CfnOutput, Duration, RemovalPolicy, type Stack, Tags } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { CfnManagedPolicy, PolicyStatement, type Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import {
  Architecture,
  CfnFunction,
  type Code,
  type EventInvokeConfigOptions,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
} from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { VERSION } from "#settings/version.ts";
import { FUNCTIONS, type FunctionName, isInLoop, QUEUE_VARIABLES, type QueueName } from "./functions.ts";
import {
  announceStatement,
  anyClusterStatement,
  assumeAddedStatement,
  assumeStatements,
  cloudStatements,
  keyStatement,
  networkInterfaceStatement,
  readClustersStatement,
  roleInAccount,
  storeStatements,
  sumStatement,
  WITH_ADDED_ROLES,
} from "./policies.ts";
import { roleWith } from "./policy-size.ts";
import { accessPath } from "./role-names.ts";
import type { DeploymentSettings } from "./settings.ts";

/** What the functions of a stack share. */
export interface Surroundings {
  readonly stack: Stack;
  readonly settings: DeploymentSettings;
  readonly table: Table;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  /** The code of a function: its bundle, or a stand-in in tests. */
  readonly code: (name: FunctionName) => Code;
  readonly extraEnvironment: Readonly<Record<string, string>>;
  /** The customer's own key, if there is one. */
  readonly key?: IKey;
}

/** Lambda's limit for the environment, names and values together. */
const MAX_ENVIRONMENT_BYTES = 4096;

/**
 * Creates a function with its role and log group. `lost` gets events of asynchronous invocations that failed in every
 * attempt.
 */
export function makeFunction(name: FunctionName, surroundings: Surroundings, lost?: Queue): LambdaFunction {
  const { stack, settings, key } = surroundings;
  const { description, memory, timeoutSeconds } = FUNCTIONS[name];
  const functionName = `${stack.stackName}-${name}`;
  const logGroup = new LogGroup(stack, `${capital(name)}Log`, {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(key && { encryptionKey: key }),
  });
  const vpc = FUNCTIONS[name].inClusters ? settings.vpc : undefined;
  const token = hasToken(name) ? makeToken(surroundings, name) : undefined;
  const cap = isCalledByApiServers(name) ? settings[`${name}Concurrency`] : 0;
  const made = new LambdaFunction(stack, capital(name), {
    functionName,
    description,
    runtime: Runtime.NODEJS_24_X,
    architecture: settings.architecture === "arm64" ? Architecture.ARM_64 : Architecture.X86_64,
    handler: "index.handler",
    code: surroundings.code(name),
    memorySize: memory,
    timeout: Duration.seconds(timeoutSeconds),
    environment: environment(name, surroundings, token),
    ...(key && { environmentEncryption: key }),
    role: makeRole(name, logGroup, surroundings, { ...(lost && { lost }), ...(token && { token }) }),
    logGroup,
    ...(cap > 0 && { reservedConcurrentExecutions: cap }),
    ...(isInLoop(name) && { recursiveLoop: RecursiveLoop.ALLOW }),
    ...asynchronous(name, lost),
  });
  // Of functions only, which an upgrade changes anyway: a tag of the stack would change each of its resources.
  Tags.of(made).add("app.kubernetes.io/version", VERSION);
  if (!(made.node.defaultChild instanceof CfnFunction)) throw new Error(`${functionName} is not a CfnFunction`);
  // The L2 construct requires a Vpc that is looked up; ids suffice here.
  if (vpc !== undefined) made.node.defaultChild.vpcConfig = vpc;
  // The property Role orders the role already; only its managed policies are named by nothing else.
  const policies = made.role?.node.findAll().filter((part) => part instanceof CfnManagedPolicy) ?? [];
  made.node.defaultChild.addOverride("DependsOn", policies.length > 0 ? policies.map((policy) => stack.getLogicalId(policy)) : undefined);
  return made;
}

/**
 * A failed sweep is not retried, because the next one follows within a minute. Audit records arrive once, so they are.
 */
function asynchronous(name: FunctionName, lost: Queue | undefined): EventInvokeConfigOptions {
  if (lost !== undefined) return { onFailure: new SqsDestination(lost), retryAttempts: 2 };
  return FUNCTIONS[name].schedules.length > 0 ? { retryAttempts: 0, maxEventAge: Duration.seconds(60) } : {};
}

function environment(
  name: FunctionName,
  { stack, settings, table, queues, extraEnvironment }: Surroundings,
  token: Secret | undefined,
): Record<string, string> {
  const clusters = settings.clusters.map((cluster) => ({
    name: cluster.name,
    sources: cluster.sources,
    endpoint: cluster.endpoint,
    caBundle: cluster.caBundle,
    ...(name === "audit" && { logGroup: cluster.logGroup }),
    ...(cluster.account !== undefined && FUNCTIONS[name].inClusters
      ? { roleArn: roleInAccount(stack.stackName, cluster, name), externalId: cluster.externalId }
      : {}),
  }));
  const variables: Record<string, string> = {
    ...settings.settings,
    TABLE_NAME: table.tableName,
    CLUSTERS: JSON.stringify(clusters),
  };
  const { queue: own, sends } = FUNCTIONS[name];
  for (const queue of new Set([...sends, ...(own === undefined ? [] : [own])])) variables[QUEUE_VARIABLES[queue]] = queues[queue].queueUrl;
  if (settings.eventBus !== undefined && FUNCTIONS[name].announces) variables["EVENT_BUS_NAME"] = settings.eventBus;
  if (settings.scrape && FUNCTIONS[name].inClusters) variables["SUM_METRICS"] = "true";
  if (token !== undefined) variables[`${name.toUpperCase()}_TOKEN`] = token.secretArn;
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes > MAX_ENVIRONMENT_BYTES) {
    throw new Error(
      `The environment of ${name} has ${bytes} bytes, Lambda takes ${MAX_ENVIRONMENT_BYTES}: leave out endpoint and caBundle (EKS is asked), or split the clusters over two stacks.`,
    );
  }
  return { ...variables, ...extraEnvironment };
}

/** Functions behind a public URL that ask for a secret: in its path, or of a scraper as a bearer token. */
function hasToken(name: FunctionName): name is "notify" | "admission" | "metrics" {
  return isCalledByApiServers(name) || name === "metrics";
}

/** Functions behind a public URL whose path contains a secret. */
function isCalledByApiServers(name: FunctionName): name is "notify" | "admission" {
  return name === "notify" || name === "admission";
}

/**
 * The secret part of a URL's path. Secrets Manager makes and keeps it, so that no template, no repository, no shell and
 * no function's configuration contains it. A change of what it is generated from would make another one.
 */
function makeToken({ stack, key }: Surroundings, name: "notify" | "admission" | "metrics"): Secret {
  const secret = new Secret(stack, `${capital(name)}Token`, {
    ...(key && { encryptionKey: key }),
    description:
      name === "metrics"
        ? `Bearer token of ${stack.stackName}'s metrics URL`
        : `Secret part of the path of ${stack.stackName}'s ${name} URL`,
    generateSecretString: { passwordLength: 48, excludePunctuation: true, includeSpace: false },
  });
  new CfnOutput(stack, `${capital(name)}TokenArn`, { value: secret.secretArn });
  return secret;
}

/** What only some functions have. */
interface OwnParts {
  /** Gets events of asynchronous invocations that failed in every attempt. */
  readonly lost?: Queue;
  readonly token?: Secret;
}

function makeRole(name: FunctionName, logGroup: LogGroup, surroundings: Surroundings, { lost, token }: OwnParts): Role {
  const { stack, settings, table, queues } = surroundings;
  const { queue, sends, store, announces } = FUNCTIONS[name];
  const targets = [...sends.map((target) => queues[target]), ...(lost === undefined ? [] : [lost])];
  const statements = [
    new PolicyStatement({
      sid: "WriteOwnLog",
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resources: [logGroup.logGroupArn],
    }),
    ...storeStatements(store, table.tableArn),
    ...(store.includes("read") ? [] : [readClustersStatement(table.tableArn)]),
    ...(settings.scrape && FUNCTIONS[name].inClusters ? [sumStatement(table.tableArn)] : []),
    ...(targets.length === 0
      ? []
      : [new PolicyStatement({ sid: "Wake", actions: ["sqs:SendMessage"], resources: targets.map(({ queueArn }) => queueArn) })]),
    ...(queue === undefined
      ? []
      : [
          new PolicyStatement({
            sid: "BeWoken",
            actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"],
            resources: [queues[queue].queueArn],
          }),
        ]),
    ...(token === undefined
      ? []
      : [new PolicyStatement({ sid: "ReadToken", actions: ["secretsmanager:GetSecretValue"], resources: [token.secretArn] })]),
    ...cloudStatements(
      name,
      settings.clusters.filter(({ account }) => account === undefined),
      settings.settings,
      [anyClusterStatement()],
    ),
    ...WITH_ADDED_ROLES.filter((one) => one === name).map(() => assumeAddedStatement(accessPath(settings), name)),
    ...(FUNCTIONS[name].inClusters ? assumeStatements(stack.stackName, settings.clusters, name) : []),
    ...(settings.eventBus !== undefined && announces ? [announceStatement(settings.eventBus)] : []),
    ...(settings.vpc !== undefined && FUNCTIONS[name].inClusters ? [networkInterfaceStatement()] : []),
    ...(settings.kmsKeyArn === undefined ? [] : [keyStatement(settings.kmsKeyArn)]),
  ];
  const role = roleWith(stack, `${capital(name)}Role`, statements, {
    assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
    description: `Of ${stack.stackName}-${name}`,
  });
  new CfnOutput(stack, `${capital(name)}RoleArn`, { value: role.roleArn });
  return role;
}

export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
