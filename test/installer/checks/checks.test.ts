import { describe, expect, it } from "vitest";
import { parseSettings } from "#infra/settings.ts";
import type { Facts, Wanted } from "#installer/checks/facts.ts";
import { CHECKS, checkAll } from "#installer/checks/table.ts";

const EKS = {
  status: "ACTIVE",
  version: "1.33",
  authenticationMode: "API",
  isPublic: true,
  publicCidrs: ["0.0.0.0/0"],
  hasAutoMode: false,
  hasAuditLog: false,
  egress: "AWS_MANAGED",
};
const ROLE = "arn:aws:iam::111122223333:role/KarpenterNodeRole-c1";
const FACTS: Facts = {
  cluster: "c1",
  region: "us-west-2",
  caller: { value: { account: "111122223333", arn: "arn:aws:iam::111122223333:role/me" } },
  eks: { value: EKS },
  inCluster: { value: { mayInstall: true } },
  lambda: { value: { limit: 1_000, unreserved: 1_000 } },
  stack: { value: undefined },
  nodeRole: { value: ROLE },
  nodeEntry: { value: "EC2_LINUX" },
  subnets: { value: 3 },
  securityGroups: { value: 1 },
  hasSpotRole: { value: true },
  auditGroup: { value: { group: "/aws/eks/c1/cluster", class: "STANDARD" } },
};

const wanted = (settings: object = {}): Wanted => parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2", ...settings }, "test");
const judge = (facts: Facts, settings: Wanted) => checkAll("install", { ...facts, wanted: settings });
const eks = (changed: Partial<typeof EKS>): Partial<Facts> => ({ eks: { value: { ...EKS, ...changed } } });
const OURS = { InterruptionQueueArn: "arn:queue" };
const stack = (outputs: Readonly<Record<string, string>>): Partial<Facts> => ({ stack: { value: { status: "UPDATE_COMPLETE", outputs } } });
const LISTENING = { clusters: [{ name: "c1", sources: ["audit", "sweep"] }] };
const auditGroup = (of: string | undefined): Partial<Facts> => ({ auditGroup: { value: { group: "/aws/eks/c1/cluster", class: of } } });
const [INFREQUENT, withoutGroup] = [auditGroup("INFREQUENT_ACCESS"), auditGroup(undefined)];
const denied = { error: "AccessDenied" };

describe("pre-flight checks", () => {
  it("an account and a cluster with everything pass every check", () => {
    const results = judge(FACTS, wanted());
    expect(results.map(({ name }) => name)).toEqual(CHECKS.flatMap(({ name, install }) => (install === undefined ? [] : [name])));
    expect(results.filter(({ level }) => level !== "ok")).toEqual([]);
  });

  it.for<{ name: string; level?: "note"; facts: Partial<Facts>; settings?: object; says: string }>([
    { name: "region", facts: { region: "" }, says: "give --region" },
    { name: "credentials", facts: { caller: { error: "expired" } }, says: "(expired); sign in with aws sso login" },
    { name: "cluster", facts: { eks: denied }, says: "check --cluster, --region" },
    { name: "cluster", facts: eks({ status: "CREATING" }), says: "wait until it is ACTIVE" },
    { name: "authentication mode", facts: eks({ authenticationMode: "CONFIG_MAP" }), says: "authenticationMode=API_AND_CONFIG_MAP" },
    { name: "Kubernetes version", facts: eks({ version: "1.28" }), says: "--kubernetes-version 1.29" },
    { name: "endpoint", facts: eks({ isPublic: false }), says: 'by "vpc" in a settings file' },
    { name: "endpoint", facts: eks({ publicCidrs: ["10.0.0.0/8"] }), says: "admits 10.0.0.0/8 only" },
    {
      name: "access",
      facts: { inCluster: { error: "no answer" } },
      says: "check the network, or let yourself in: aws eks create-access-entry --cluster-name c1 --principal-arn arn:aws:iam::111122223333:role/me",
    },
    { name: "access", facts: { inCluster: { value: { mayInstall: false } } }, says: "AmazonEKSClusterAdminPolicy" },
    {
      name: "Lambda's limit",
      facts: { lambda: { value: { limit: 10, unreserved: 10 } } },
      settings: { notifyConcurrency: 20 },
      says: "set notifyConcurrency and admissionConcurrency to 0",
    },
    { name: "Lambda's limit", level: "note", facts: { lambda: { value: { limit: 10, unreserved: 10 } } }, says: "ask Service Quotas" },
    { name: "public URL", facts: { region: "eu-central-2" }, says: "give --public-url apiGateway" },
    { name: "public URL", level: "note", facts: eks({ egress: "CUSTOMER_ROUTED" }), says: "reached only by a NAT" },
    { name: "stack", facts: stack({ Clusters: "c1" }), says: "karpenter-serverless is another product's stack" },
    { name: "stack", facts: stack({ ...OURS, Clusters: "c1,c2" }), says: "also serves c2, which this would take from it" },
    { name: "node role", facts: { nodeRole: { value: undefined } }, says: "there is no role KarpenterNodeRole-c1" },
    {
      name: "node role",
      facts: { nodeRole: { value: undefined } },
      settings: { clusters: [{ name: "c1", nodeRoles: ["team/nodes"] }] },
      says: "there is no role nodes",
    },
    { name: "node role", facts: {}, settings: { createNodeRoles: true }, says: "leave --create-node-role out" },
    { name: "node role's access", facts: { nodeEntry: { value: undefined } }, says: "aws eks create-access-entry --cluster-name c1" },
    {
      name: "node role's access",
      level: "note",
      facts: { ...eks({ authenticationMode: "API_AND_CONFIG_MAP" }), nodeEntry: { value: undefined } },
      says: "only if the ConfigMap aws-auth maps it",
    },
    { name: "subnets", level: "note", facts: { subnets: { value: 0 } }, says: "no subnet has the tag karpenter.sh/discovery=c1" },
    { name: "security groups", level: "note", facts: { securityGroups: { value: 0 } }, says: "aws ec2 create-tags" },
    { name: "spot", level: "note", facts: { hasSpotRole: { value: false } }, says: "create-service-linked-role" },
    {
      name: "Karpenter",
      level: "note",
      facts: { inCluster: { value: { mayInstall: true, karpenter: "kube-system/karpenter-leader-election" } } },
      says: "the command adopt ends it and takes its nodes over",
    },
    { name: "Auto Mode", level: "note", facts: eks({ hasAutoMode: true }), says: "keep the pods apart" },
    { name: "audit log", facts: INFREQUENT, settings: LISTENING, says: "/aws/eks/c1/cluster is of class INFREQUENT_ACCESS" },
    { name: "audit log", facts: withoutGroup, settings: LISTENING, says: "have EKS write the audit log" },
    { name: "audit log", level: "note", facts: INFREQUENT, says: "so audit cannot be a source" },
  ])("$name tells what is wrong and how to mend it: $says", ({ name, level = "fault", facts, settings = {}, says }) => {
    const results = judge({ ...FACTS, ...facts }, wanted(settings));
    const others = results.filter((result) => result.level !== "ok" && !result.text.startsWith("not checked"));
    expect(others).toEqual([{ name, level, text: expect.stringContaining(says) }]);
    expect(others[0]?.text).not.toMatch(/\n|\.$/);
  });

  it("a fault that hides the rest is told alone", () => {
    expect(judge({ ...FACTS, caller: denied, eks: denied, inCluster: denied }, wanted()).map(({ name }) => name)).toEqual([
      "region",
      "credentials",
    ]);
  });

  it("what may not be read is noted and stops nothing", () => {
    const facts = {
      ...FACTS,
      lambda: denied,
      nodeRole: denied,
      nodeEntry: denied,
      subnets: denied,
      securityGroups: denied,
      hasSpotRole: denied,
      auditGroup: denied,
    };
    const results = judge(facts, wanted()).filter(({ level }) => level !== "ok");
    expect(results).toHaveLength(7);
    for (const { level, text } of results) expect({ level, text }).toEqual({ level: "note", text: "not checked: AccessDenied" });
  });

  it.for([
    {
      name: "endpoint",
      facts: eks({ isPublic: false }),
      settings: { vpc: { subnetIds: ["subnet-1", "subnet-2"], securityGroupIds: ["sg-1"] } },
    },
    { name: "node role", facts: { nodeRole: { value: undefined }, nodeEntry: { value: undefined } }, settings: { createNodeRoles: true } },
    { name: "public URL", facts: { region: "eu-central-2" }, settings: { publicUrl: "apiGateway" } },
    { name: "node role", facts: stack({ ...OURS, ClustersWithNodeRole: "c1" }), settings: { createNodeRoles: true } },
    { name: "stack", facts: { stack: { value: { status: "ROLLBACK_COMPLETE", outputs: {} } } }, settings: {} },
    { name: "public URL", facts: { region: "eu-central-2" }, settings: { clusters: [{ name: "c1", sources: ["sweep"] }] } },
  ])("$name passes with the settings that mend it: $settings", ({ facts, settings }) => {
    expect(judge({ ...FACTS, ...facts }, wanted(settings)).filter(({ level }) => level !== "ok")).toEqual([]);
  });
});
