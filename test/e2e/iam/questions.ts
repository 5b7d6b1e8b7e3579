import type { Call } from "../fake-aws/faults.ts";
import type { FakeAwsState } from "../fake-aws/world.ts";
import { ec2Questions, existing, passRole, requested, tagMap } from "./ec2-questions.ts";
import type { Question } from "./policy.ts";

/** What IAM checks for a call to the fake AWS. Throws on an unknown action. */
export function questionsOf(
  world: FakeAwsState,
  { service, action, params }: Pick<Call, "service" | "action" | "params">,
): readonly Question[] {
  switch (service) {
    case "ec2":
      return ec2Questions(world, action, params);
    case "iam":
      return iamQuestions(world, action, params);
    case "eks":
      return [plain(`eks:${action}`, `arn:aws:eks:${world.region}:${world.account}:cluster/${String(params["name"])}`)];
    case "ssm":
      return [plain(`ssm:${action}`, parameterArn(world, String(params["Name"])))];
    case "pricing":
      return [plain(`pricing:${action}`, "*")];
    case "sts":
      // GetCallerIdentity cannot be refused.
      return action === "GetCallerIdentity" ? [] : [plain(`sts:${action}`, String(params["RoleArn"]))];
    default:
      throw new Error(`test/e2e/iam/questions.ts does not know what IAM asks about ${service}:${action}.`);
  }
}

const plain = (action: string, resource: string): Question => ({ action, resource, context: {} });

/** The ARN of a parameter; AWS's public parameters belong to no account. */
function parameterArn({ region, account }: FakeAwsState, name: string): string {
  return `arn:aws:ssm:${region}:${name.startsWith("/aws/") ? "" : account}:parameter${name.startsWith("/") ? "" : "/"}${name}`;
}

function iamQuestions(world: FakeAwsState, action: string, params: Readonly<Record<string, unknown>>): readonly Question[] {
  const name = String(params["InstanceProfileName"]);
  const profile = world.instanceProfiles.get(name);
  const path = String(params["Path"] ?? profile?.path ?? "/");
  const resource =
    action === "ListInstanceProfiles" ? listed(world, params) : `arn:aws:iam::${world.account}:instance-profile${path}${name}`;
  const tags = tagMap(params["Tags"]);
  const question = { action: `iam:${action}`, resource, context: { ...existing(profile?.tags), ...requested(tags) } };
  switch (action) {
    case "CreateInstanceProfile":
      return [question, ...(tags.size > 0 ? [{ ...question, action: "iam:TagInstanceProfile" }] : [])];
    case "AddRoleToInstanceProfile":
      return [question, passRole(world.account, String(params["RoleName"]))];
    default:
      return [question];
  }
}

function listed({ account }: FakeAwsState, params: Readonly<Record<string, unknown>>): string {
  return `arn:aws:iam::${account}:instance-profile${String(params["PathPrefix"] ?? "/")}*`;
}
