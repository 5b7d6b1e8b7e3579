import { describe, expect, it } from "vitest";
import { DEPLOYED, deployedOf } from "#infra/deployed.ts";
import { parseSettings } from "#infra/settings.ts";
import type { InstallationPorts, KubeObject } from "#installer/account/ports.ts";
import { doctor } from "#installer/checks/doctor.ts";
import { VERSION } from "#settings/version.ts";
import { ROLE, SECRET } from "../install/world.ts";
import { Installed, nodeClass } from "./world.ts";

const OPTIONS = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless", json: false };
type Account = Partial<InstallationPorts["account"]>;
const run = (world: Installed, account: Account = {}, json = false) => doctor({ ...OPTIONS, json }, world.installationPorts(account));

const CRD = "CustomResourceDefinition/nodepools.karpenter.sh";
const RBAC = "ClusterRole/karpenter-serverless:provision";
const WEBHOOK = "ValidatingWebhookConfiguration/karpenter-serverless-notify";

function change(world: Installed, key: string, changed: object): void {
  world.put({ ...(world.objects.get(key) as KubeObject), ...changed });
}

const VPC = { subnetIds: ["subnet-1", "subnet-2"], securityGroupIds: ["sg-1"] };
const endpoints = (...services: readonly string[]) => services.map((service) => `com.amazonaws.us-west-2.${service}`);

/** The stack says these settings. */
function deployed(world: Installed, settings: object): void {
  world.metadata = { [DEPLOYED]: deployedOf(parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2", ...settings }, "test")) };
}

const EKS = {
  ...{ status: "ACTIVE", version: "1.33", authenticationMode: "API" },
  ...{ isPublic: true, publicCidrs: ["0.0.0.0/0"], hasAutoMode: false, hasAuditLog: false, egress: "AWS_MANAGED" },
};

describe("doctor", () => {
  it("an installation without a fault passes every check, and is exit code 0", async () => {
    const { output, isUsable } = await run(new Installed());
    expect(isUsable).toBe(true);
    expect(output.split("\n")).toEqual([
      "ok     region: us-west-2",
      "ok     credentials: arn:aws:iam::111122223333:role/me",
      "ok     cluster: c1",
      "ok     authentication mode: API",
      "ok     Kubernetes version: 1.33",
      "ok     access: the API server answers you",
      `ok     stack: karpenter-serverless ${VERSION} (UPDATE_COMPLETE)`,
      "ok     CRDs: 5, of this version",
      expect.stringMatching(/^ok {5}RBAC: \d+, of this version$/),
      "ok     functions' access: 1 access entries",
      "ok     webhook: registered, and its URL answers",
      "ok     node role KarpenterNodeRole-c1: EC2_LINUX",
      "ok     EC2NodeClass default: finds subnets, security groups and images",
      "ok     spot: its service-linked role exists",
      "ok     Karpenter: none runs in the cluster",
      "ok     Auto Mode: off",
      "ok     vCPUs of on-demand: 1000",
      "ok     vCPUs of spot: 1000",
      "ok     queues: 5, no message waits",
      "ok     event sources: 1, enabled",
      "ok     schedules: 1, enabled",
      "ok     rules: 1, enabled",
      "ok     RecursiveLoop: Allow, of provision, lifecycle, disruption, catalog",
      "ok     invocations: in the last hour provision 0, lifecycle 0, disruption 0, catalog 0",
      "ok     kube-scheduler: LeastAllocated: pods spread over nodes with room",
      "ok     reserved concurrency: none",
      "ok     Lambda's concurrency: 1000 at once",
      "cluster c1 in us-west-2: healthy",
      "",
    ]);
  });

  it.for<{ says: string; isHealthy?: boolean; breaks?: (world: Installed) => void; account?: Account }>([
    {
      says: "FAULT  CRDs: CustomResourceDefinition nodepools.karpenter.sh is missing; apply",
      breaks: (world) => world.objects.delete(CRD),
    },
    {
      says: "FAULT  CRDs: CustomResourceDefinition nodepools.karpenter.sh is of version 0.0.1; apply",
      breaks: (world) =>
        change(world, CRD, { metadata: { name: "nodepools.karpenter.sh", annotations: { "karpenter-serverless/version": "0.0.1" } } }),
    },
    { says: `FAULT  RBAC: ${RBAC.replace("/", " ")} is missing`, breaks: (world) => world.objects.delete(RBAC) },
    { says: `FAULT  RBAC: ${RBAC.replace("/", " ")} has other rules`, breaks: (world) => change(world, RBAC, { rules: [] }) },
    {
      says: "FAULT  functions' access: the API server does not know provision",
      account: { accessEntryType: async (_, arn) => (arn === ROLE ? "EC2_LINUX" : undefined) },
    },
    {
      says: "FAULT  webhook: ValidatingWebhookConfiguration karpenter-serverless-notify is missing",
      breaks: (world) => world.objects.delete(WEBHOOK),
    },
    {
      says: "FAULT  webhook: it calls another URL than the stack's",
      breaks: (world) =>
        change(world, WEBHOOK, { webhooks: [{ name: "w", clientConfig: { url: `https://old.example/v1/c1/${SECRET}` } }] }),
    },
    {
      says: "FAULT  webhook: its URL has another secret than the stack",
      breaks: (world) =>
        change(world, WEBHOOK, { webhooks: [{ name: "w", clientConfig: { url: "https://notify.example/v1/c1/former" } }] }),
    },
    { says: "FAULT  webhook: its URL answers 502", breaks: (world) => Object.assign(world, { httpStatus: 502 }) },
    {
      says: "FAULT  node role KarpenterNodeRole-c1: an EC2NodeClass names it, and IAM has no such role",
      account: { roleArn: async () => undefined },
    },
    {
      says: "FAULT  node role KarpenterNodeRole-c1: arn:aws:iam::111122223333:role/KarpenterNodeRole-c1 has no access entry",
      account: { accessEntryType: async (_, arn) => (arn === ROLE ? undefined : "STANDARD") },
    },
    {
      says: "FAULT  EC2NodeClass default: SubnetsReady: SubnetSelector did not match any Subnets; correct",
      breaks: (world) =>
        world.put(nodeClass("default", [{ type: "SubnetsReady", status: "False", message: "SubnetSelector did not match any Subnets" }])),
    },
    { says: "note   Karpenter: Karpenter runs", isHealthy: true, breaks: (world) => Object.assign(world, { karpenter: "kube-system/k" }) },
    {
      says: "note   Auto Mode: EKS Auto Mode makes nodes",
      isHealthy: true,
      account: { cluster: async () => ({ ...EKS, hasAutoMode: true }) },
    },
    {
      says: "note   vCPUs of spot: 950 of 1000 are used",
      isHealthy: true,
      breaks: (world) => world.metrics.set("ResourceCount Standard/Spot", 950),
    },
    {
      says: "FAULT  queues: messages wait: claims 10 min",
      breaks: (world) => world.metrics.set("ApproximateAgeOfOldestMessage ClaimsQueue", 600),
    },
    {
      says: "note   Lambda's concurrency: at most 990 of 1000",
      isHealthy: true,
      breaks: (world) => world.metrics.set("ConcurrentExecutions", 990),
    },
    {
      says: "note   Lambda's concurrency: the account runs 10 functions at once; raise this quota before those of EC2: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000",
      isHealthy: true,
      account: { lambdaLimit: async () => ({ limit: 10, unreserved: 10 }) },
    },
    {
      says: "FAULT  RecursiveLoop: Terminate, of lifecycle, so Lambda ends their wake-ups after about 16 and leaves dead letters; allow it, of each: aws lambda put-function-recursion-config --recursive-loop Allow --function-name karpenter-serverless-lifecycle",
      breaks: ({ live }) => {
        live.recursiveLoop = async (name) => (name.endsWith("lifecycle") ? "Terminate" : "Allow");
      },
    },
    {
      says: "note   RecursiveLoop: not checked: AccessDenied",
      isHealthy: true,
      breaks: ({ live }) => {
        live.recursiveLoop = async () => Promise.reject(new Error("AccessDenied"));
      },
    },
    {
      says: "FAULT  invocations: in the last hour catalog 2000 of at most 2000; wake-ups may follow",
      breaks: (world) => world.metrics.set("Invocations karpenter-serverless-catalog", 2_000),
    },
    {
      says: "FAULT  event sources: the queue of provision starts nothing; enable it: aws lambda update-event-source-mapping --enabled --uuid uuid-of-provision",
      breaks: ({ live }) => {
        live.isSourceEnabled = async () => false;
      },
    },
    {
      says: "FAULT  schedules: karpenter-serverless-provision-sweep is disabled",
      breaks: (world) => world.disabled.add("karpenter-serverless-provision-sweep"),
    },
    {
      says: "FAULT  rules: notices of EC2 do not arrive, because a rule is disabled; enable it: aws events enable-rule --name karpenter-serverless-SpotRule",
      breaks: ({ live }) => {
        live.isRuleEnabled = async () => false;
      },
    },
    {
      says: "FAULT  reserved concurrency: 0, which stops provision; take it away: aws lambda delete-function-concurrency --function-name karpenter-serverless-provision",
      breaks: ({ live }) => {
        live.reservedConcurrency = async (name) => (name.endsWith("provision") ? 0 : undefined);
      },
    },
    {
      says: "FAULT  VPC: no way out of subnet-2, and the VPC has no endpoint of sqs (for provision, lifecycle, interruption, disruption, catalog), secretsmanager (for metrics); make each",
      breaks: (world) => {
        deployed(world, { vpc: VPC, scrape: true });
        world.live.network = async () => ({ withoutWayOut: ["subnet-2"], endpoints: endpoints("dynamodb", "eks", "ec2", "ssm") });
      },
    },
    {
      says: "ok     VPC: no way out of subnet-2; the VPC has the 5 endpoints that it needs",
      isHealthy: true,
      breaks: (world) => {
        deployed(world, { vpc: VPC });
        world.live.network = async () => ({ withoutWayOut: ["subnet-2"], endpoints: endpoints("dynamodb", "eks", "ec2", "ssm", "sqs") });
      },
    },
    {
      says: "ok     VPC: each subnet of the functions has a way out",
      isHealthy: true,
      breaks: (world) => deployed(world, { vpc: VPC }),
    },
    {
      says: "FAULT  audit log: /aws/eks/c1/cluster is of class INFREQUENT_ACCESS, which takes no subscription filter",
      breaks: (world) => {
        deployed(world, { clusters: [{ name: "c1", sources: ["audit"] }] });
        world.live.logGroupClass = async () => "INFREQUENT_ACCESS";
      },
    },
    {
      says: "note   kube-scheduler: MostAllocated: pods go to the fullest node",
      isHealthy: true,
      account: { cluster: async () => ({ ...EKS, scoring: "MostAllocated" }) },
    },
    { says: "FAULT  cluster: cluster c1 is CREATING", account: { cluster: async () => ({ ...EKS, status: "CREATING" }) } },
    { says: "FAULT  stack: there is no stack karpenter-serverless", breaks: (world) => Object.assign(world, { stack: undefined }) },
  ])("doctor tells what is wrong and how to mend it: $says", async ({ says, isHealthy = false, breaks, account = {} }) => {
    const world = new Installed();
    breaks?.(world);
    const { output, isUsable } = await run(world, account);
    expect(output).toContain(says);
    expect(isUsable).toBe(isHealthy);
  });

  it("a definition that another product has installed is not judged by our version", async () => {
    const world = new Installed();
    change(world, CRD, { metadata: { name: "nodepools.karpenter.sh" } });
    expect((await run(world)).output).toContain("ok     CRDs: 5");
  });

  it("a person who may not install is no fault of an installation", async () => {
    const ports = new Installed().installationPorts();
    const clusterApi = () => ({ ...ports.clusterApi("c1"), observe: async () => ({ mayInstall: false }) });
    expect((await doctor(OPTIONS, { ...ports, clusterApi })).isUsable).toBe(true);
  });

  it("doctor prints the secret of the webhook's path in neither form", async () => {
    const { output } = await run(new Installed(), {}, true);
    expect(JSON.parse(output)).toMatchObject({
      healthy: true,
      checks: expect.arrayContaining([expect.objectContaining({ name: "RBAC" })]),
    });
    expect(output + (await run(new Installed())).output).not.toContain(SECRET);
  });
});
