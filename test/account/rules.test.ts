import { expect, it } from "vitest";
import { accountWith, installersPolicy } from "./account-of.ts";
import { type AccountSettings, judgeResource, type Made, RULES } from "./rules.ts";

const made = (type: string, properties: object = {}): Made => ({ type, logicalId: "One", properties: properties as Made["properties"] });
const KEY = "arn:aws:kms:us-west-2:111122223333:key/k";

interface Row {
  readonly rule: string;
  readonly refused: Made;
  readonly allowed: Made;
  readonly account?: Partial<AccountSettings>;
}

const ROWS: readonly Row[] = [
  {
    rule: "reserved concurrency",
    refused: made("AWS::Lambda::Function", { ReservedConcurrentExecutions: 901 }),
    allowed: made("AWS::Lambda::Function", { ReservedConcurrentExecutions: 900 }),
  },
  {
    rule: "proactive controls",
    refused: made("AWS::Lambda::Permission", { Principal: "*" }),
    allowed: made("AWS::Lambda::Permission", { Principal: "logs.amazonaws.com", SourceArn: "arn:aws:logs:x" }),
    account: { hooks: { "AWS::Lambda::Permission": "H" } },
  },
  {
    rule: "access entries",
    refused: made("AWS::EKS::AccessEntry", { ClusterName: "c2", PrincipalArn: "arn:a" }),
    allowed: made("AWS::EKS::AccessEntry", { ClusterName: "c1", PrincipalArn: "arn:a" }),
  },
  {
    rule: "subscription filters",
    refused: made("AWS::Logs::SubscriptionFilter", { LogGroupName: "/full" }),
    allowed: made("AWS::Logs::SubscriptionFilter", { LogGroupName: "/free" }),
    account: { logGroups: { "/full": 2, "/free": 1 } },
  },
  {
    rule: "named roles",
    refused: made("AWS::IAM::Role", { RoleName: "KarpenterNodeRole-c1" }),
    allowed: made("AWS::IAM::Role", { RoleName: "KarpenterNodeRole-c9" }),
  },
  {
    rule: "keys of logs",
    refused: made("AWS::Logs::LogGroup", { KmsKeyId: `${KEY}2` }),
    allowed: made("AWS::Logs::LogGroup", { KmsKeyId: KEY }),
    account: { keys: { [KEY]: ["logs.us-west-2.amazonaws.com"] } },
  },
  {
    rule: "subnets of functions",
    refused: made("AWS::Lambda::Function", { VpcConfig: { SubnetIds: ["subnet-2"] } }),
    allowed: made("AWS::Lambda::Function", { VpcConfig: { SubnetIds: ["subnet-1"] } }),
    account: { subnets: ["subnet-1"] },
  },
  {
    rule: "policies of the person and of the organization",
    refused: made("AWS::EC2::VPC"),
    allowed: made("AWS::SQS::Queue"),
  },
];

it("each rule of the account model names the document that it is from, and has a row here", () => {
  for (const [rule, { document }] of Object.entries(RULES)) expect(document, rule).toMatch(/^(AWS|Amazon) .+, .+/);
  expect(ROWS.map(({ rule }) => rule)).toEqual(Object.keys(RULES));
});

it.for(ROWS)("the account model refuses by '$rule' what it is about, and nothing else", ({ rule, refused, allowed, account }) => {
  expect(judgeResource(refused, accountWith(account), [])).toMatchObject({ rule });
  expect(judgeResource(allowed, accountWith(account), [])).toBeUndefined();
});

it("who installs may make nothing but by CloudFormation, and no role of another name", () => {
  const make = installersPolicy().filter(({ Sid }) => Sid?.startsWith("Make"));
  for (const { Condition } of make)
    expect(Condition).toEqual({ "ForAnyValue:StringEquals": { "aws:CalledVia": "cloudformation.amazonaws.com" } });
  expect(judgeResource(made("AWS::IAM::Role", { RoleName: "Administrator" }), accountWith(), [])).toMatchObject({
    message: expect.stringContaining("no identity-based policy allows the iam:CreateRole action"),
  });
});
