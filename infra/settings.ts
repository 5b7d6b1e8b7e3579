import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { PARTITIONS, partitionOf } from "#settings/partitions.ts";
import { DEFAULT_GATES, gatesIn } from "#settings/setting-table.ts";
import { BadInput } from "./end-with.ts";
import { type FunctionSettings, functionSettings } from "./function-settings.ts";
import { nodeRoleName, roleNameInAccount } from "./role-names.ts";
import { type ClusterSetting, WITHOUT_EFFECT } from "./setting-notes.ts";

/** The settings of a deployment: infra/clusters.json, or a file like it. */

const cluster = z.strictObject({
  name: z.string().regex(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/, "is no EKS cluster name; use letters, digits, - and _, at most 100"),
  /** Where wake-ups come from; the one-minute sweep is always on. */
  sources: z.array(z.enum(["audit", "notify", "sweep"])).default(["notify", "sweep"]),
  /** URL of the API server; EKS is asked for it when absent. */
  endpoint: z.string().startsWith("https://").optional(),
  /** PEM in base64; EKS is asked for it when absent. */
  caBundle: z.string().optional(),
  /** The log group of its audit records; /aws/eks/NAME/cluster when absent. */
  logGroup: z
    .string()
    .regex(/^[\w#./-]{1,512}$/, "is no name of a log group")
    .optional(),
  auditPattern: z.enum(["json", "text"]).default("json"),
  /**
   * The cluster's AWS account, when it is not the stack's: the functions reach the cluster by roles in that account
   * (docs/deploy.md). The region is the same.
   */
  account: z
    .string()
    .regex(/^\d{12}$/, "is no AWS account: twelve digits")
    .optional(),
  /** The external id that the trust policies of these roles require. */
  externalId: z
    .string()
    .regex(/^[\w+=,.@:/-]{2,256}$/, "must have 2 to 256 letters, digits and +=,.@:/-_")
    .optional(),
  /**
   * The roles that the cluster's nodes may have, by name and, if a role has one, path (team-a/nodes);
   * KarpenterNodeRole-NAME when absent.
   */
  nodeRoles: z.array(z.string().regex(/^([\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/, "is no role name, with or without its path")).optional(),
});

/** CloudWatch Logs takes no other number of days. */
const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** How API servers reach functions. */
const PUBLIC_URLS = ["functionUrl", "apiGateway", "restApi", "none"] as const;

const settings = z.strictObject({
  stackName: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9-]{0,39}$/, "must begin with a letter and have at most 40 letters, digits and -")
    .default("karpenter-serverless"),
  clusters: z.array(cluster).min(1, "names no cluster"),
  architecture: z.enum(["arm64", "x86_64"]).default("arm64"),
  /** Karpenter's own settings by their names, as FEATURE_GATES. */
  settings: z
    .record(z.string().regex(/^[A-Z][A-Z0-9_]+$/, "is no setting's name"), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .default({}),
  /**
   * An S3 bucket of this account and region that `cdk deploy` uploads the functions to, in place of the one that
   * `cdk bootstrap` makes.
   */
  assetsBucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "is no S3 bucket name")
    .optional(),
  /** The ARN of a managed policy that bounds every role that the stack makes, where the organization asks for one. */
  permissionsBoundary: z
    .string()
    .regex(/^arn:[\w-]+:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/, "is no ARN of a managed policy")
    .optional(),
  /** The path of every role that the stack makes, such as /platform/. Their names begin with the stack's name. */
  rolePath: z
    .string()
    .regex(/^\/([\w+=,.@-]+\/)*$/, "is no path of IAM: it begins and ends with /")
    .default("/"),
  /**
   * How API servers reach notify and admission: a Lambda function URL, an HTTP API of API Gateway, a REST API, whose
   * policy can say who calls, or by no URL of the stack.
   */
  publicUrl: z.enum(PUBLIC_URLS).default("functionUrl"),
  /** The addresses from which the REST API may be called; all when absent. */
  callerCidrs: z
    .array(z.string().regex(/^[\d.]+\/\d{1,2}$|^[\da-fA-F:]+\/\d{1,3}$/, "is no CIDR such as 198.51.100.7/32"))
    .min(1, "names no CIDR")
    .optional(),
  /** The VPC endpoints of execute-api by which alone the REST API is called; it is then private. */
  callerVpcEndpointIds: z
    .array(z.string().regex(/^vpce-[\da-f]+$/, "is no id of a VPC endpoint"))
    .min(1, "names no VPC endpoint")
    .optional(),
  /**
   * The customer managed key of KMS for table, queues, secrets, logs and the functions' environment, in place of keys
   * of AWS. Its policy must admit the services (docs/security.md).
   */
  kmsKeyArn: z
    .string()
    .regex(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/, "is no ARN of a KMS key")
    .optional(),
  /** The region of the stack, to refuse at the synthesis what it does not have; AWS_REGION when absent. */
  region: z
    .string()
    .regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/, "is no AWS region")
    .optional(),
  /** Tags of every resource of the stack, beside its own. */
  tags: z.record(z.string().regex(/^(?!aws:)[\w .:/=+@-]{1,128}$/, "is no key of a tag"), z.string().max(256)).default({}),
  /** Makes EKS access entries for the functions; without them an operator maps their roles. */
  accessEntries: z.boolean().default(true),
  /** Makes the role KarpenterNodeRole-NAME of each cluster. */
  createNodeRoles: z.boolean().default(false),
  /**
   * Makes the role KarpenterNodeRole-NAME-windows of each cluster too. A role has one access entry, and that of Windows
   * nodes is of another type.
   */
  createWindowsNodeRoles: z.boolean().default(false),
  /** Whether the table is deleted with the stack: for trials. */
  ephemeral: z.boolean().default(false),
  /**
   * The VPC of the functions that call API servers, for API servers that only a VPC reaches. The VPC needs a way to
   * AWS's APIs (NAT or endpoints).
   */
  vpc: z
    .strictObject({
      subnetIds: z.array(z.string().startsWith("subnet-")).min(2),
      securityGroupIds: z.array(z.string().startsWith("sg-")).min(1),
    })
    .optional(),
  /** Queues refuse plain HTTP. False only for local stand-ins of AWS, which speak nothing else. */
  enforceTls: z.boolean().default(true),
  /** How long the functions' logs are kept, one of the numbers of days that CloudWatch Logs offers. */
  logRetentionDays: z
    .number()
    .refine((days) => RETENTION_DAYS.includes(days), `must be one of ${RETENTION_DAYS.join(", ")}`)
    .default(14),
  /** The EventBridge bus of this account and region that announcements are sent to: "default", or another's name. */
  eventBus: z
    .string()
    .regex(/^[\w./-]{1,256}$/, "is no event bus name")
    .optional(),
  /** An SNS topic that alarms go to. Without it there are none. */
  alarmTopicArn: z.string().startsWith("arn:").optional(),
  /**
   * Concurrency that is reserved for notify and that notify cannot exceed, which bounds what a flood of calls to its
   * public URL can cost. 0 reserves none: Lambda refuses a reservation that leaves the account less than 100
   * unreserved, or any at all in a new account, whose limit is 10.
   */
  notifyConcurrency: z.number().int().min(0).default(0),
  /**
   * Makes the admission function, which refuses bad manifests when they are written and converts karpenter.sh/v1beta1.
   */
  admission: z.boolean().default(false),
  /** Makes a dashboard in CloudWatch, $3 a month beyond the third of an account. */
  dashboard: z.boolean().default(false),
  /**
   * Makes the metrics function, which Prometheus and others scrape, and has the other functions add up what they count.
   */
  scrape: z.boolean().default(false),
  /** The same bound for the URL of the admission function. */
  admissionConcurrency: z.number().int().min(0).default(0),
});

/** The keys of a cluster and of the settings file. */
export const CLUSTER_SHAPE: Readonly<Record<string, unknown>> = cluster.shape;
export const DEPLOYMENT_SHAPE: Readonly<Record<string, unknown>> = settings.shape;
/** The same as schemas, of which the package's types are made. */
export const CLUSTER_SCHEMA: z.ZodType = cluster;
export const DEPLOYMENT_SCHEMA: z.ZodType = settings;

export type ClusterSettings = z.infer<typeof cluster>;
export type DeploymentSettings = z.infer<typeof settings>;
export type PublicUrl = DeploymentSettings["publicUrl"];

/** Karpenter's settings that describe its one cluster, and the fields of a cluster that they fill in here. */
const OF_ONE_CLUSTER = { CLUSTER_NAME: "name", CLUSTER_ENDPOINT: "endpoint", CLUSTER_CA_BUNDLE: "caBundle" } as const satisfies Readonly<
  Record<ClusterSetting, string>
>;

/**
 * The clusters, the only one with what Karpenter's settings say of it. Throws one sentence when they contradict the
 * cluster.
 */
function described(clusters: readonly ClusterSettings[], given: FunctionSettings, source: string): readonly ClusterSettings[] {
  return Object.entries(OF_ONE_CLUSTER).reduce((all, [name, field]) => {
    const value = given[name] ?? "";
    const [only, ...others] = all;
    if (value === "" || only === undefined) return all;
    if (others.length > 0)
      throw new BadInput(`${source}: settings.${name} says not of which of ${all.length} clusters; set ${field} in clusters.`);
    if (only[field] !== undefined && only[field] !== value)
      throw new BadInput(`${source}: settings.${name} is ${value}, but clusters says ${only[field]}; leave one of them out.`);
    const parsed = cluster.safeParse({ ...only, [field]: value });
    if (!parsed.success) throw new BadInput(`${source}: settings.${name} ${parsed.error.issues[0]?.message.toLowerCase() ?? "is wrong"}.`);
    return [parsed.data];
  }, clusters);
}

/** The functions pass the role to instances. */
function withWindowsRole(cluster: ClusterSettings): ClusterSettings {
  const { name, nodeRoles = [nodeRoleName(name, "linux")] } = cluster;
  return { ...cluster, nodeRoles: [...new Set([...nodeRoles, nodeRoleName(name, "windows")])] };
}

const WORDS: Readonly<Record<string, string>> = {
  array: "a list",
  string: "text",
  object: "a map",
  record: "a map",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

/** An issue that zod found, as a sentence that begins with the path of the field. */
function wording(issue: z.core.$ZodIssue): string {
  const path = issue.path.join(".");
  const place = path === "" ? "the whole" : path;
  switch (issue.code) {
    case "invalid_value":
      return `${place} must be one of ${issue.values.join(", ")}`;
    case "invalid_type":
      return / undefined$/.test(issue.message)
        ? `${place} is missing; it must be ${WORDS[issue.expected] ?? issue.expected}`
        : `${place} must be ${WORDS[issue.expected] ?? issue.expected}`;
    case "unrecognized_keys":
      return `${path === "" ? "" : `${path} has `}${issue.keys.join(", ")} ${path === "" ? "is no setting" : "which is no setting"}; take it out, or see docs/settings.md for the names`;
    default:
      return `${place} ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
  }
}

/**
 * Regions without Lambda function URLs, by the resource types that CloudFormation has in each region (cfn-lint 1.58.0).
 */
const WITHOUT_FUNCTION_URLS = new Set([
  ...["ap-east-2", "ap-south-2", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-west-1", "cn-northwest-1"],
  ...["eu-central-2", "il-central-1", "me-central-1", "mx-central-1", "us-gov-east-1", "us-gov-west-1"],
]);

/** Whether CloudFormation makes Lambda function URLs in the region. */
export const hasFunctionUrls = (region: string): boolean => !WITHOUT_FUNCTION_URLS.has(region);

/** Whether the settings ask for a URL that API servers call. */
export function hasPublicUrl({
  clusters,
  admission,
  scrape = false,
  publicUrl,
}: Pick<DeploymentSettings, "clusters" | "admission" | "publicUrl"> & Partial<Pick<DeploymentSettings, "scrape">>): boolean {
  return publicUrl !== "none" && (admission || scrape || clusters.some(({ sources }) => sources.includes("notify")));
}

/** The region that the settings or the environment name, to refuse at the synthesis what it does not have. */
const regionOf = ({ region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] }: DeploymentSettings): string | undefined =>
  region;

/** Throws one sentence when the region is of a partition whose endpoints are not known. */
function checkRegion(settings: DeploymentSettings, source: string): void {
  const region = regionOf(settings);
  if (region !== undefined && partitionOf(region) === undefined)
    throw new BadInput(
      `${source}: ${region} is of no partition of AWS whose endpoints are known (${PARTITIONS.map(({ id }) => id).join(", ")}); choose a region of these.`,
    );
}

/** Throws one sentence when the region has no URLs of the kind that is asked for. */
function checkPublicUrl(settings: DeploymentSettings, source: string): void {
  for (const key of ["callerCidrs", "callerVpcEndpointIds"] as const)
    if (settings[key] !== undefined && settings.publicUrl !== "restApi")
      throw new BadInput(`${source}: ${key} is the policy of a REST API; set publicUrl to "restApi", or leave ${key} out.`);
  const region = regionOf(settings);
  if (region === undefined || settings.publicUrl !== "functionUrl" || !hasPublicUrl(settings)) return;
  if (!hasFunctionUrls(region))
    throw new BadInput(
      `${source}: ${region} has no Lambda function URLs; set publicUrl to "apiGateway", or leave notify out of the sources and admission off.`,
    );
}

/** Checks a cluster in another account. Throws one sentence about the first thing that is wrong. */
function checkAccount({ name, account, externalId, sources }: ClusterSettings, stackName: string, source: string): void {
  if (account === undefined) {
    if (externalId !== undefined)
      throw new BadInput(`${source}: cluster ${name} has an externalId but no account; say in which account it lives, or leave it out.`);
    return;
  }
  if (sources.includes("audit"))
    throw new BadInput(
      `${source}: cluster ${name} lives in another account, whose audit log cannot be subscribed to; use "notify" in its sources.`,
    );
  // CloudFormation cuts longer stack names in the names of the functions' roles, which the roles of that account trust
  // by name.
  if (stackName.length > 24)
    throw new BadInput(
      `${source}: cluster ${name} lives in another account, for which stackName must have at most 24 characters; ${stackName} has ${stackName.length}.`,
    );
  const longest = roleNameInAccount(stackName, name, "interruption");
  if (longest.length > 64)
    throw new BadInput(
      `${source}: the role ${longest} in cluster ${name}'s account would have ${longest.length} characters, IAM takes 64; choose a shorter stackName.`,
    );
}

/**
 * Reads the settings of a deployment, with defaults filled in. Throws one sentence about the first thing that is wrong;
 * `source` names the file. `warn` is called with a sentence about each setting and each gate of Karpenter that has no
 * effect here.
 */
export function parseSettings(value: unknown, source: string, warn: (sentence: string) => void = console.error): DeploymentSettings {
  const parsed = settings.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new BadInput(`${source}: ${issue ? wording(issue) : "it is wrong"}.`);
  }
  const { settings: given } = parsed.data;
  for (const [name, because] of Object.entries(WITHOUT_EFFECT))
    if (name in given) warn(`${source}: settings.${name} has no effect here: ${because}.`);
  const gates = gatesIn(given["FEATURE_GATES"] ?? "") ?? {};
  for (const gate of Object.keys(gates).filter((name) => !Object.hasOwn(DEFAULT_GATES, name)))
    warn(`${source}: settings.FEATURE_GATES: the gate ${gate} has no effect here.`);
  const isForFunctions = (name: string): boolean => !(name in WITHOUT_EFFECT || name in OF_ONE_CLUSTER);
  const forFunctions = Object.fromEntries(Object.entries(given).filter(([name]) => isForFunctions(name)));
  const names = parsed.data.clusters.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new BadInput(`${source}: cluster ${twice} is named twice; leave one of them out.`);
  }
  checkRegion(parsed.data, source);
  checkPublicUrl(parsed.data, source);
  for (const cluster of parsed.data.clusters) checkAccount(cluster, parsed.data.stackName, source);
  return {
    ...parsed.data,
    clusters: described(parsed.data.clusters, given, source).map((one) =>
      parsed.data.createWindowsNodeRoles ? withWindowsRole(one) : one,
    ),
    settings: functionSettings(forFunctions, source),
  };
}

/** Reads a settings file. Throws one sentence when the file does not exist or is not JSON. */
export function readSettings(path: string = join(import.meta.dirname, "clusters.json")): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new BadInput(`${path}: cannot be read; name the clusters in such a file (infra/clusters.json is one) or with --clusters a,b.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadInput(`${path}: is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
