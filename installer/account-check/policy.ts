import { partitionOf } from "#settings/partitions.ts";
import { CLEAN_CALLS } from "./clean.ts";
import { PREFIX, tagOf } from "./names.ts";
import { STEPS } from "./plan.ts";

interface Statement {
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: object;
}

/** These have no resources, or are asked before anything exists. */
const LOOKS = /^(cloudformation:Describe\w+|dynamodb:ListTables|ec2:Describe\w+|iam:GetRole|iam:SimulatePrincipalPolicy|ssm:GetParameter)$/;
const BY_CLOUDFORMATION = { "ForAnyValue:StringEquals": { "aws:CalledVia": "cloudformation.amazonaws.com" } };

/** The rights that account-check needs in one region: those that its steps and its cleaning name, and no others. */
export function accountCheckPolicy(region: string, account: string): object {
  const all = [...new Set(["sts:GetCallerIdentity", ...STEPS.flatMap(({ calls }) => calls), ...CLEAN_CALLS])].sort();
  const partition = partitionOf(region)?.id ?? "aws";
  const own = (service: string, resource: string): string => `arn:${partition}:${service}:${region}:${account}:${resource}`;
  const of = (...prefixes: readonly string[]): readonly string[] =>
    all.filter((call) => !LOOKS.test(call) && prefixes.some((prefix) => call.startsWith(prefix)));
  const allow = (Sid: string, Action: readonly string[], Resource: Statement["Resource"], Condition?: object): Statement => ({
    ...{ Sid, Effect: "Allow", Action, Resource },
    ...(Condition && { Condition }),
  });
  const role = `arn:${partition}:iam::${account}:role/${PREFIX}*`;
  const tag = tagOf().key;
  return {
    Version: "2012-10-17",
    Statement: [
      allow("Look", [...all.filter((call) => LOOKS.test(call)), ...of("sts:")], "*"),
      allow("KeepStacks", of("cloudformation:"), own("cloudformation", `stack/${PREFIX}*/*`)),
      allow("MakeByCloudFormation", ["dynamodb:*", "lambda:*", "logs:*", "sqs:*"], "*", BY_CLOUDFORMATION),
      allow("MakeRoleByCloudFormation", ["iam:*"], role, BY_CLOUDFORMATION),
      allow("UseQueues", of("sqs:"), own("sqs", `${PREFIX}*`)),
      allow("UseFunctions", of("lambda:"), own("lambda", `function:${PREFIX}*`)),
      allow("RemoveTables", of("dynamodb:"), own("dynamodb", `table/${PREFIX}*`)),
      allow("Launch", of("ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:Run"), "*"),
      allow("TagWhatIsLaunched", of("ec2:CreateTags"), own("ec2", "*/*"), {
        StringEquals: { "ec2:CreateAction": ["CreateFleet", "CreateLaunchTemplate", "RunInstances"] },
      }),
      allow("EndOwn", of("ec2:Delete", "ec2:Terminate"), [own("ec2", "instance/*"), own("ec2", "launch-template/*")], {
        Null: { [`aws:ResourceTag/${tag}`]: "false" },
      }),
    ],
  };
}
