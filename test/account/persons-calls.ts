import type { Question } from "../e2e/iam/policy.ts";
import type { AwsCall } from "./request.ts";
import type { AccountSettings } from "./rules.ts";

// Which permission a call of the person asks for: action, resource and condition keys, by AWS's Service Authorization
// Reference.

/** The prefix of a service's actions, where it is not the name that requests are signed for. */
const PREFIXES: Readonly<Record<string, string>> = { monitoring: "cloudwatch", tagging: "tag" };

/** Operations whose action has another name. */
const RENAMED: Readonly<Record<string, string>> = {
  "s3:HeadBucket": "s3:ListBucket",
  "s3:HeadObject": "s3:GetObject",
};

/** What calls of EC2 that change something are about. */
const OF_EC2: Readonly<Record<string, string>> = { TerminateInstances: "instance/i-1", CreateTags: "subnet/subnet-1" };

/** Undefined where no permission is asked. */
export function personsQuestion({ service, action, input }: AwsCall, { region, account }: AccountSettings): Question | undefined {
  if (action === undefined || (service === "sts" && action === "GetCallerIdentity")) return undefined;
  const name = `${PREFIXES[service] ?? service}:${action}`;
  const given = (input ?? {}) as Readonly<Record<string, unknown>>;
  const one = (key: string): string => String(given[key] ?? "*");
  const arn = (resource: string): string => `arn:aws:${service}:${region}:${account}:${resource}`;
  const resources: Readonly<Record<string, () => string>> = {
    cloudformation: () => arn(`stack/${one("StackName")}/*`),
    s3: () => `arn:aws:s3:::${one("Bucket")}${given["Key"] === undefined ? "" : `/${one("Key")}`}`,
    eks: () => arn(`cluster/${String(given["name"] ?? given["clusterName"] ?? "*")}`),
    secretsmanager: () => one("SecretId"),
    iam: () =>
      action.includes("InstanceProfile")
        ? `arn:aws:iam::${account}:instance-profile${String(given["PathPrefix"] ?? `/karpenter/${region}/c/${one("InstanceProfileName")}`)}`
        : `arn:aws:iam::${account}:role/${one("RoleName")}`,
    ec2: () => (action.startsWith("Describe") ? "*" : arn(OF_EC2[action] ?? "launch-template/lt-1")),
    dynamodb: () => arn(`table/${one("TableName")}`),
    lambda: () => (given["UUID"] === undefined ? "*" : arn(`event-source-mapping:${one("UUID")}`)),
  };
  return {
    action: RENAMED[name] ?? name,
    resource: resources[service]?.() ?? "*",
    context: {
      "aws:RequestedRegion": region,
      ...(name === "ec2:CreateTags" && { "aws:TagKeys": ["karpenter.sh/discovery"] }),
      // The launch templates and instances of an account are those of the functions here, which carry these tags.
      ...(["ec2:DeleteLaunchTemplate", "ec2:TerminateInstances"].includes(name) && { "aws:ResourceTag/karpenter.sh/nodepool": "default" }),
    },
  };
}
