import { Template as CdkTemplate, Match } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it, vi } from "vitest";
import { ec2Client } from "#adapters/aws/clients.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { wireAccounts } from "#functions/wiring/accounts.ts";
import { makeApp } from "#infra/app.ts";
import { FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { WITH_ADDED_ROLES } from "#infra/policies.ts";
import { parseSettings } from "#infra/settings.ts";
import { parseConfig } from "#settings/config.ts";
import { accessKeyOfRole } from "../e2e/fake-aws/request.ts";
import { ledger, wordRefusal } from "../e2e/iam/ledger.ts";
import { questionsOf } from "../e2e/iam/questions.ts";
import { policiesByFunction } from "../e2e/iam/template-policies.ts";
import type { Template } from "../e2e/support/deploy.ts";
import { fakeAws } from "../fake-aws/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const outDir = temporaryFolder("other-account");

const THEIRS = "222233334444";
const { app, stack, access } = makeApp({
  settings: parseSettings({ clusters: [{ name: "own" }, { name: "theirs", account: THEIRS, externalId: "team-a" }], scrape: true }, "test"),
  outDir,
  code: () => Code.fromInline("exports.handler = async () => {};"),
});
// cdk-nag checks both stacks here.
app.synth();
const template = CdkTemplate.fromStack(stack);
const inTheirs = CdkTemplate.fromStack(access[0] ?? stack);
const policies = policiesByFunction(template.toJSON() as Template, { account: "111122223333", region: "us-west-2" });
/** The account in the ARN of the queue that the parameter names. */
const OWNER = { "Fn::Select": [4, { "Fn::Split": [":", { Ref: "InterruptionQueueArn" }] }] };
const inClusters = FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters);
/** The path of the roles of clusters that were added, in the functions' own account. */
const ADDED = "arn:aws:iam::111122223333:role/karpenter-serverless/karpenter-serverless/";
const roleOf = (name: string): string => `arn:aws:iam::${THEIRS}:role/karpenter-serverless-theirs-${name}`;

describe("a cluster of another account", () => {
  it.for(inClusters)("%s can assume its own role in the other account, and no other role", (name) => {
    const assume = (policies.get(`karpenter-serverless-${name}`) ?? []).filter(({ Action }) => Action.includes("sts:AssumeRole"));
    const [own, others] = [WITH_ADDED_ROLES.some((one) => one === name) ? [[`${ADDED}${name}/*`]] : [], [[roleOf(name)]]];
    expect(assume.map(({ Resource }) => Resource)).toEqual([...own, ...others]);
    inTheirs.hasResourceProperties("AWS::IAM::Role", {
      RoleName: `karpenter-serverless-theirs-${name}`,
      AssumeRolePolicyDocument: {
        Statement: [
          Match.objectLike({
            Action: "sts:AssumeRole",
            Condition: {
              ArnLike: {
                "aws:PrincipalArn": {
                  "Fn::Join": ["", Match.arrayWith([OWNER, Match.stringLikeRegexp(`Role\\*$`)])],
                },
              },
              StringEquals: { "sts:ExternalId": "team-a" },
            },
          }),
        ],
      },
    });
    inTheirs.hasResourceProperties("AWS::EKS::AccessEntry", { ClusterName: "theirs", KubernetesGroups: [`karpenter-serverless:${name}`] });
  });

  it("no permission of the functions' own account names the other account's cluster", () => {
    const own = [...policies.values()].flat().filter(({ Action }) => !Action.includes("sts:AssumeRole"));
    expect(JSON.stringify(own)).not.toContain("theirs");
    expect(template.findResources("AWS::EKS::AccessEntry", { Properties: { ClusterName: "theirs" } })).toEqual({});
  });

  it("the roles of the other account have permissions for its cluster only", () => {
    const roles = JSON.stringify(inTheirs.findResources("AWS::IAM::Role"));
    expect(roles).toContain('"aws:ResourceTag/eks:eks-cluster-name":["theirs"]');
    expect(roles).not.toContain(":cluster/own");
    expect(roles).toContain(":role/KarpenterNodeRole-theirs");
  });

  it("the other account sends EC2's notices to our queue, which accepts them from that one role", () => {
    inTheirs.resourcePropertiesCountIs("AWS::Events::Rule", { Targets: [Match.objectLike({ RoleArn: Match.anyValue() })] }, 5);
    template.hasResourceProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: "sqs:SendMessage",
            Condition: {
              ArnEquals: {
                "aws:PrincipalArn": { "Fn::Join": ["", Match.arrayWith([`:iam::${THEIRS}:role/karpenter-serverless-theirs-notices`])] },
              },
            },
          }),
        ]),
      },
    });
  });

  it("calls to the other account use the session of its role, and other calls our own", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ASIAOWN");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    const permissions = ledger();
    permissions.know([{ name: "lifecycle", accessKey: "ASIAOWN", statements: policies.get("karpenter-serverless-lifecycle") ?? [] }]);
    const fake = await fakeAws({
      now: Date.now,
      authorize(call, world) {
        const refusal = permissions.judge(call.accessKey, questionsOf(world, call));
        return refusal && wordRefusal(refusal);
      },
    });
    vi.stubEnv("AWS_ENDPOINT_URL_EC2", fake.url);
    const clusters = [
      { name: "own" },
      { name: "theirs", roleArn: roleOf("lifecycle"), externalId: "team-a" },
      { name: "wrong", roleArn: roleOf("catalog") },
    ];
    const config = parseConfig({ TABLE_NAME: "table", CLUSTERS: JSON.stringify(clusters), AWS_ENDPOINT_URL_STS: fake.url });
    const accountOf = wireAccounts({ config, controller: "lifecycle" });
    const [own, theirs, wrong] = config.clusters.map((cluster) => ec2Fleet(ec2Client("us-west-2", accountOf(cluster).credentials)));
    await own?.list("own");
    await theirs?.list("theirs");
    await theirs?.list("theirs");
    await expect(wrong?.list("wrong")).rejects.toThrow(/STS does not let us act as .*-catalog: AccessDenied/);
    expect(fake.state.calls.map(({ action, accessKey }) => [action, accessKey])).toEqual([
      ["DescribeInstances", "ASIAOWN"],
      ["AssumeRole", "ASIAOWN"],
      ["DescribeInstances", accessKeyOfRole(roleOf("lifecycle"))],
      ["DescribeInstances", accessKeyOfRole(roleOf("lifecycle"))],
      ["AssumeRole", "ASIAOWN"],
    ]);
    expect(fake.state.calls[1]?.params).toMatchObject({ ExternalId: "team-a", RoleSessionName: "karpenter-serverless-lifecycle" });
    vi.unstubAllEnvs();
  });
});

describe("settings of a cluster of another account", () => {
  const refused =
    (cluster: object, more: object = {}) =>
    () =>
      parseSettings({ clusters: [{ name: "theirs", ...cluster }], ...more }, "x.json");
  it.for([
    { name: "no account number", cluster: { account: "prod" }, says: /clusters\.0\.account is no AWS account: twelve digits/ },
    { name: "an external id for nobody", cluster: { externalId: "team-a" }, says: /has an externalId but no account/ },
    { name: "its audit log", cluster: { account: THEIRS, sources: ["audit"] }, says: /audit log cannot be subscribed to; use "notify"/ },
    { name: "a long name", cluster: { account: THEIRS, name: "x".repeat(50) }, says: /IAM takes 64; choose a shorter stackName/ },
    { name: "a long stack", cluster: { account: THEIRS }, more: { stackName: "s".repeat(25) }, says: /at most 24 characters/ },
  ])("refuse $name", ({ cluster, more, says }) => {
    expect(refused(cluster, more)).toThrow(says);
  });
});
