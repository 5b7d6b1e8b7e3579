import { describe, expect, it } from "vitest";
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
