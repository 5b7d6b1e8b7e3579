import type { Account } from "./account.ts";
import { accountWith, installersPolicy } from "./account-of.ts";
import { clear, found, installer, matchLogGroups } from "./installing.ts";
import type { AccountSettings } from "./rules.ts";

// First creations that fail, each of another cause: the sentence that the person reads, what is left, and the next try.

interface Cause {
  readonly account: Partial<AccountSettings>;
  readonly settings?: object;
  /** The sentence has this. */
  readonly says: string;
  /** What the person changes after reading it. */
  readonly mend: { readonly account?: Partial<AccountSettings>; readonly settings?: object };
}

const BOUNDARY = "arn:aws:iam::111122223333:policy/bounds";
const KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const withoutActions = (...actions: readonly string[]): AccountSettings["identity"] =>
  installersPolicy().map((one) => ({ ...one, Action: one.Action.filter((action) => !actions.includes(action)) }));
const two = (more: object = {}): object => ({ clusters: [{ name: "c1" }, { name: "c2", ...more }] });

export const CAUSES: Readonly<Record<string, Cause>> = {
  "Lambda reserves no concurrency, and the person may not read the limit": {
    account: { lambdaLimit: 10, identity: withoutActions("lambda:GetAccountSettings") },
    settings: { notifyConcurrency: 5 },
    says: "decreases account's UnreservedConcurrentExecution below its minimum value of [10]",
    mend: { settings: { notifyConcurrency: 0 } },
  },
  "the cluster writes no audit log": {
    account: { logGroups: {} },
    settings: { clusters: [{ name: "c1", sources: ["audit", "sweep"] }] },
    says: "there is no log group /aws/eks/c1/cluster; have EKS write the audit log",
    mend: { account: { logGroups: { "/aws/eks/c1/cluster": 0 } } },
  },
  "others have taken both subscription filters of the audit log": {
    account: { logGroups: { "/aws/eks/c1/cluster": 2 } },
    settings: { clusters: [{ name: "c1", sources: ["audit", "sweep"] }] },
    says: "Resource limit exceeded",
    mend: { settings: { clusters: [{ name: "c1" }] } },
  },
  "the second cluster of the settings file does not exist": {
    account: {},
    settings: two(),
    says: "No cluster found for name: c2",
    mend: { settings: { clusters: [{ name: "c1" }] } },
  },
  "the second cluster admits no access entries": {
    account: { clusters: { c1: "API", c2: "CONFIG_MAP" } },
    settings: two(),
    says: "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP]",
    mend: { account: { clusters: { c1: "API", c2: "API_AND_CONFIG_MAP" } } },
  },
  "Control Tower refuses the function URL that the person asks for": {
    account: { hooks: { "AWS::Lambda::Url": "AWS::ControlTower::Hook", "AWS::Lambda::Permission": "AWS::ControlTower::Hook" } },
    says: "The following hook(s) failed: [AWS::ControlTower::Hook]",
    mend: { settings: { publicUrl: "restApi" } },
  },
  "the organization asks for a permissions boundary": {
    account: {
      scp: [
        {
          ...{ Sid: "Bounded", Effect: "Deny", Action: ["iam:CreateRole"], Resource: ["*"] },
          Condition: { StringNotEquals: { "iam:PermissionsBoundary": BOUNDARY } },
        },
      ],
    },
    says: "not authorized to perform: iam:CreateRole",
    mend: { settings: { permissionsBoundary: BOUNDARY } },
  },
  "the node role of the second cluster exists": {
    account: { clusters: { c1: "API", c2: "API" }, roles: ["KarpenterNodeRole-c2", "AWSServiceRoleForEC2Spot"], accessEntries: [] },
    settings: { ...two(), createNodeRoles: true },
    says: "identifier 'KarpenterNodeRole-c2' already exists",
    mend: { account: { roles: ["AWSServiceRoleForEC2Spot"] } },
  },
  "the key's policy does not admit CloudWatch Logs": {
    account: { keys: { [KEY]: [] } },
    settings: { kmsKeyArn: KEY },
    says: "The specified KMS key does not exist or is not allowed to be used",
    mend: { account: { keys: { [KEY]: ["logs.us-west-2.amazonaws.com"] } } },
  },
  "a subnet of the settings file does not exist": {
    account: { subnets: ["subnet-1"] },
    settings: { vpc: { subnetIds: ["subnet-1", "subnet-2"], securityGroupIds: ["sg-1"] } },
    says: "The subnet ID 'subnet-2' does not exist",
    mend: { account: { subnets: ["subnet-1", "subnet-2"] } },
  },
  "the person may not make schedules": {
    account: { identity: withoutActions("scheduler:*") },
    says: "not authorized to perform: scheduler:CreateSchedule",
    mend: { account: { identity: installersPolicy() } },
  },
};

/** Plays one cause. Throws what was not as it must be. */
export async function playCause(account: Account, dir: string, { account: changed, settings, says, mend }: Cause): Promise<string> {
  account.settings = accountWith(changed);
  await clear(account);
  await matchLogGroups(account);
  const run = installer(dir);
  const first = await run(settings, true);
  if (!first.failed || !`${first.text}\n${first.end}`.includes(says))
    throw new Error(`the first try ends otherwise: ${first.end}\n${first.text}`);
  const left = Object.entries(await found(account)).filter(([kind, names]) => kind !== "stacks" && names.length > 0);
  if (left.length > 0) throw new Error(`the first try leaves ${JSON.stringify(Object.fromEntries(left))}`);
  account.settings = accountWith({ ...changed, ...mend.account });
  await matchLogGroups(account);
  const second = await run({ ...settings, ...mend.settings }, true);
  if (second.failed) throw new Error(`the next try fails: ${second.end}`);
  return first.end;
}
