import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zipPath } from "#infra/zip.ts";
import { type AwsTarget, awsQuery, awsRequest } from "./aws-call.ts";
import type { ClusterIdentity } from "./cluster.ts";
import { functionCredentials, type MiniStack } from "./ministack.ts";
import { eventually } from "./wait.ts";

/** A file for a bucket, to which a template's `S3Bucket` and `S3Key` refer. */
export type Asset = { readonly bucket: string; readonly key: string; readonly body: Uint8Array };

/** A CloudFormation template, parsed. */
export type Template = {
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
};

const cloudFormation = "2010-05-15";

/**
 * Uploads the assets, creates or updates the stack, waits for the end, and returns the outputs. Throws with the failed
 * resource.
 */
export async function deployTemplate(options: {
  readonly target: AwsTarget;
  readonly stackName: string;
  readonly template: Template;
  readonly assets?: readonly Asset[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}): Promise<Readonly<Record<string, string>>> {
  const { target, stackName, template, assets = [], parameters = {}, timeoutMs = 300_000 } = options;
  await putAssets(target, assets);
  const before = await describe(target, stackName);
  const input: Record<string, string> = { StackName: stackName, ...(await templateInput(target, template)) };
  for (const [i, capability] of ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"].entries()) {
    input[`Capabilities.member.${i + 1}`] = capability;
  }
  for (const [i, [name, value]] of Object.entries(parameters).entries()) {
    input[`Parameters.member.${i + 1}.ParameterKey`] = name;
    input[`Parameters.member.${i + 1}.ParameterValue`] = value;
  }
  try {
    await awsQuery(target, "cloudformation", cloudFormation, before === undefined ? "CreateStack" : "UpdateStack", input);
  } catch (error) {
    if (!String(error).includes("No updates are to be performed")) {
      throw error;
    }
  }
  return await settledStack(target, stackName, timeoutMs);
}

/** Uploads files, and makes their buckets where they are missing. */
export async function putAssets(target: AwsTarget, assets: readonly Asset[]): Promise<void> {
  for (const bucket of new Set(assets.map((asset) => asset.bucket))) await makeBucket(target, bucket);
  for (const { bucket, key, body } of assets) await awsRequest(target, "s3", { method: "PUT", path: `/${bucket}/${key}`, body });
}

/** Waits for the end of a stack's creation or update, and returns the outputs. Throws with the failed resource. */
export async function settledStack(target: AwsTarget, stackName: string, timeoutMs = 300_000): Promise<Readonly<Record<string, string>>> {
  const xml = await eventually(
    `stack ${stackName} is deployed`,
    async () => {
      const now = await describe(target, stackName);
      return now !== undefined && !tag(now, "StackStatus").endsWith("_IN_PROGRESS") ? now : undefined;
    },
    { timeoutMs },
  );
  const status = tag(xml, "StackStatus");
  if (status !== "CREATE_COMPLETE" && status !== "UPDATE_COMPLETE") {
    throw new Error(`Stack ${stackName} ended as ${status}: ${await failures(target, stackName)}`);
  }
  const outputs = /<Outputs>([\s\S]*?)<\/Outputs>/.exec(xml)?.[1] ?? "";
  return Object.fromEntries(
    [...outputs.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member = ""]) => [tag(member, "OutputKey"), tag(member, "OutputValue")]),
  );
}

/** The names that the resources of a stack have in the account, by their logical ids; a queue's is not its URL. */
export async function physicalNames(target: AwsTarget, stackName: string): Promise<Readonly<Record<string, string>>> {
  const xml = await awsQuery(target, "cloudformation", cloudFormation, "DescribeStackResources", { StackName: stackName });
  const members = [...xml.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member = ""]) => member);
  return Object.fromEntries(
    members.map((member) => [tag(member, "LogicalResourceId"), tag(member, "PhysicalResourceId").replace(/^https?:.*\//, "")]),
  );
}

/** The name of the resource whose logical id is `id` and CDK's hash. */
export function nameOf(names: Readonly<Record<string, string>>, id: string): string {
  const found = Object.entries(names).find(([logical]) => logical.replace(/[0-9A-F]{8}$/, "") === id);
  if (found === undefined) throw new Error(`The stack has no ${id}.`);
  return found[1];
}

/**
 * The template and the assets of a stack that CDK synthesized into a folder. Bucket names are resolved for the target's
 * account.
 */
export function readSynthesized(
  cdkOut: string,
  stackName: string,
  target: { readonly accountId: string; readonly region: string },
): { template: Template; assets: Asset[] } {
  const manifest = JSON.parse(readFileSync(join(cdkOut, `${stackName}.assets.json`), "utf8")) as AssetManifest;
  const assets = Object.values(manifest.files).flatMap(({ source, destinations }) =>
    Object.values(destinations).flatMap(({ bucketName, objectKey }) => {
      const bucket = bucketName.replaceAll(/\$\{AWS::AccountId\}/g, target.accountId).replaceAll(/\$\{AWS::Region\}/g, target.region);
      const path = join(cdkOut, source.path);
      return source.path.endsWith(".template.json")
        ? []
        : [{ bucket, key: objectKey, body: source.packaging === "zip" ? zipPath(path) : readFileSync(path) }];
    }),
  );
  return { template: JSON.parse(readFileSync(join(cdkOut, `${stackName}.template.json`), "utf8")) as Template, assets };
}

type AssetManifest = {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string; readonly packaging: "zip" | "file" };
        readonly destinations: Readonly<Record<string, { readonly bucketName: string; readonly objectKey: string }>>;
      }
    >
  >;
};

/** A deployed function, with its access key when IAM is enforced. */
export type DeployedFunction = {
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string };
};

/** All functions of the account and region. */
export async function deployedFunctions(target: AwsTarget): Promise<readonly DeployedFunction[]> {
  const text = await awsRequest(target, "lambda", { method: "GET", path: "/2015-03-31/functions/" });
  const { Functions } = JSON.parse(text) as { Functions: { FunctionName: string; FunctionArn: string; Role: string }[] };
  return Functions.map(({ FunctionName, FunctionArn, Role }) => ({
    name: FunctionName,
    arn: FunctionArn,
    roleArn: Role,
    credentials: functionCredentials(FunctionArn, Role),
  }));
}

/** The functions' identities in the cluster, from the access entries of the template, for `cluster.setIdentities`. */
export async function clusterIdentities(ministack: MiniStack, clusterName: string): Promise<readonly ClusterIdentity[]> {
  const entries = ministack.accessEntries().filter((entry) => entry.clusterName === clusterName);
  return (await deployedFunctions(ministack)).flatMap(({ name, roleArn, credentials }) =>
    entries
      .filter((entry) => entry.principalArn === roleArn)
      .map(({ username, groups }) => {
        const arn = `arn:aws:sts::${ministack.accountId}:assumed-role/${roleArn.slice(roleArn.lastIndexOf("/") + 1)}/${name}`;
        return {
          accessKeyId: credentials.accessKeyId,
          secretAccessKey: credentials.secretAccessKey,
          arn,
          username: username ?? arn,
          groups,
        };
      }),
  );
}

/** Invokes a function and waits; returns its answer, or throws with its error. */
export async function invokeFunction<T = unknown>(target: AwsTarget, name: string, event: unknown): Promise<T> {
  const text = await awsRequest(target, "lambda", {
    method: "POST",
    path: `/2015-03-31/functions/${name}/invocations`,
    body: JSON.stringify(event),
  });
  const answer = text === "" ? undefined : (JSON.parse(text) as unknown);
  if (typeof answer === "object" && answer !== null && "errorMessage" in answer) {
    throw new Error(`Function ${name} failed: ${JSON.stringify(answer)}`);
  }
  return answer as T;
}

async function makeBucket(target: AwsTarget, bucket: string): Promise<void> {
  try {
    await awsRequest(target, "s3", {
      method: "PUT",
      path: `/${bucket}`,
      body: `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${target.region}</LocationConstraint></CreateBucketConfiguration>`,
    });
  } catch (error) {
    if (!String(error).includes("BucketAlready")) {
      throw error;
    }
  }
}

/** The template as a body when it has at most CloudFormation's 51,200 bytes, else as the URL of an S3 object. */
async function templateInput(target: AwsTarget, template: Template): Promise<Record<string, string>> {
  const body = JSON.stringify(template);
  if (Buffer.byteLength(body) <= 51_200) {
    return { TemplateBody: body };
  }
  await makeBucket(target, "harness-templates");
  await awsRequest(target, "s3", { method: "PUT", path: "/harness-templates/template.json", body });
  return { TemplateURL: `${target.url}/harness-templates/template.json` };
}

async function describe(target: AwsTarget, stackName: string): Promise<string | undefined> {
  try {
    return await awsQuery(target, "cloudformation", cloudFormation, "DescribeStacks", { StackName: stackName });
  } catch (error) {
    if (String(error).includes("does not exist")) {
      return undefined;
    }
    throw error;
  }
}

async function failures(target: AwsTarget, stackName: string): Promise<string> {
  const xml = await awsQuery(target, "cloudformation", cloudFormation, "DescribeStackEvents", { StackName: stackName });
  const failed = [...xml.matchAll(/<member>([\s\S]*?)<\/member>/g)]
    .map(([, member = ""]) => member)
    .filter((member) => tag(member, "ResourceStatus").endsWith("_FAILED"));
  return (
    failed.map((member) => `${tag(member, "LogicalResourceId")}: ${tag(member, "ResourceStatusReason")}`).join("; ") || "no event says why"
  );
}

function tag(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(xml)?.[1] ?? "";
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
