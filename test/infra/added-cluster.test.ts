import { Template } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { addedStackName } from "#infra/role-names.ts";
import { parseSettings } from "#infra/settings.ts";
import { makeAddedStack } from "#infra/synthesis.ts";

const settings = parseSettings({ stackName: "fleet", rolePath: "/platform/", clusters: [{ name: "a" }] }, "test");
const functionRoles = Object.fromEntries(
  FUNCTION_NAMES.filter((name) => name !== "metrics").map((name) => [name, `arn:aws:iam::111122223333:role/platform/fleet-${name}`]),
);

const made = new Map<string, Template>();

function templateOf(...wanted: Parameters<typeof makeTemplate>): Template {
  const key = JSON.stringify(wanted);
  const template = made.get(key) ?? makeTemplate(...wanted);
  made.set(key, template);
  return template;
}

function makeTemplate(
  name: string,
  { sources = ["sweep"], createNodeRoles = false }: { sources?: string[]; createNodeRoles?: boolean } = {},
) {
  const [cluster] = parseSettings({ clusters: [{ name, sources }] }, "test").clusters;
  if (cluster === undefined) throw new Error("there is no cluster");
  const auditArn = "arn:aws:lambda:us-west-2:111122223333:function:fleet-audit";
  return Template.fromStack(makeAddedStack({ settings, cluster, createNodeRoles, functionRoles, auditArn }).stack);
}

interface RoleResource {
  readonly Properties: {
    readonly Path: string;
    readonly AssumeRolePolicyDocument: { readonly Statement: readonly { readonly Condition: unknown }[] };
    readonly Policies: readonly { readonly PolicyDocument: unknown }[];
  };
}

it("a function assumes a role of an added cluster by its path, and only that function may", () => {
  const roles = Object.values(templateOf("b").findResources("AWS::IAM::Role")) as RoleResource[];
  expect(roles.map(({ Properties }) => [Properties.Path, Properties.AssumeRolePolicyDocument.Statement[0]?.Condition])).toEqual(
    ["lifecycle", "catalog"].map((name) => [
      `/platform/karpenter-serverless/fleet/${name}/`,
      { ArnEquals: { "aws:PrincipalArn": `arn:aws:iam::111122223333:role/platform/fleet-${name}` } },
    ]),
  );
});

it("the roles of an added cluster are tied to its own instances", () => {
  const policies = JSON.stringify(templateOf("b").findResources("AWS::IAM::Role"));
  const [tagged = []] = [[...policies.matchAll(/"aws:(?:Request|Resource)Tag\/eks:eks-cluster-name":(\[[^\]]*\]|"[^"]*")/g)]];
  expect(new Set(tagged.map(([, names]) => names))).toEqual(new Set(['["b"]']));
  expect(tagged.length).toBeGreaterThan(4);
});

it("each function that talks to clusters has an access entry in an added one, by its own role", () => {
  const entries = Object.values(templateOf("b").findResources("AWS::EKS::AccessEntry"));
  const wanted = FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters && name !== "metrics").map((name) => [
    "b",
    `arn:aws:iam::111122223333:role/platform/fleet-${name}`,
  ]);
  expect(entries.map(({ Properties }) => [Properties.ClusterName, Properties.PrincipalArn])).toEqual(wanted);
});

it("the audit log of an added cluster is subscribed to where it is a source", () => {
  templateOf("b").resourceCountIs("AWS::Logs::SubscriptionFilter", 0);
  const template = templateOf("b", { sources: ["audit", "sweep"] });
  template.hasResourceProperties("AWS::Logs::SubscriptionFilter", { LogGroupName: "/aws/eks/b/cluster", FilterName: "fleet" });
  template.hasResourceProperties("AWS::Lambda::Permission", { Principal: "logs.amazonaws.com" });
});

it("a cluster that is added takes two of the account's roles, three with its node role", () => {
  templateOf("b").resourceCountIs("AWS::IAM::Role", 2);
  templateOf("b").resourceCountIs("AWS::IAM::ManagedPolicy", 0);
  templateOf("b", { createNodeRoles: true }).resourceCountIs("AWS::IAM::Role", 3);
});

it("the small stack makes the node role when it is asked to", () => {
  templateOf("b").resourceCountIs("AWS::IAM::InstanceProfile", 0);
  templateOf("b", { createNodeRoles: true }).hasResourceProperties("AWS::IAM::Role", { RoleName: "KarpenterNodeRole-b" });
});

it("no two clusters have a small stack of one name, and no name is longer than CloudFormation takes", () => {
  const long = "x".repeat(99);
  const clusters = ["b", "b-c", "b_c", `${long}1`, `${long}2`];
  const names = clusters.map((cluster) => addedStackName("f".repeat(40), cluster));
  expect(new Set(names).size).toBe(clusters.length);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/);
});
