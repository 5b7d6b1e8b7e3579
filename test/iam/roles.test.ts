import { EC2Client } from "@aws-sdk/client-ec2";
import { IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SSMClient } from "@aws-sdk/client-ssm";
import { Template as CdkTemplate } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { beforeEach, describe, expect, it } from "vitest";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { awsInventory } from "#adapters/aws/inventory.ts";
import type { FleetRequest, LaunchTemplate } from "#core/model/fleet.ts";
import { ownershipTags } from "#core/model/tags.ts";
import { instanceProfileOf } from "#core/node-class/instance-profile.ts";
import { makeApp } from "#infra/app.ts";
import { parseSettings } from "#infra/settings.ts";
import type { FakeAws } from "../e2e/fake-aws/fake-aws.ts";
import { type Ledger, ledger, wordRefusal } from "../e2e/iam/ledger.ts";
import type { Statement } from "../e2e/iam/policy.ts";
import { questionsOf } from "../e2e/iam/questions.ts";
import { policiesByFunction } from "../e2e/iam/template-policies.ts";
import type { Template } from "../e2e/support/deploy.ts";
import { clientConfig, fakeAws, imageFor, subnetIn } from "../fake-aws/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// The product's adapters call the fake with the product's roles. Then each statement is removed in turn, and a call
// must fail.

const CLUSTER = "karpenter-test";
const outDir = temporaryFolder("roles");

const { stack } = makeApp({
  settings: parseSettings({ clusters: [{ name: CLUSTER }, { name: "another" }] }, "test"),
  outDir,
  code: () => Code.fromInline("exports.handler = async () => {};"),
});
const policies = policiesByFunction(CdkTemplate.fromStack(stack).toJSON() as Template, { account: "111122223333", region: "us-west-2" });
const statementsOf = (name: string): readonly Statement[] => policies.get(`karpenter-serverless-${name}`) ?? [];

const nodeClass = {
  metadata: { name: "default" },
  spec: { amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
};
const tags = ownershipTags(CLUSTER, nodeClass, "default");

let fake: FakeAws;
let permissions: Ledger;

beforeEach(async () => {
  permissions = ledger();
  fake = await fakeAws({
    identify: (accessKey) => permissions.nameOf(accessKey) ?? accessKey,
    authorize(call, world) {
      const refusal = permissions.judge(call.accessKey, questionsOf(world, call));
      return refusal && wordRefusal(refusal);
    },
  });
});

/** The access key of a function whose role has these statements. */
function callAs(name: string, statements: readonly Statement[]) {
  permissions.know([{ name, accessKey: name, statements }]);
  return clientConfig(fake, name);
}

const template = (more: Partial<LaunchTemplate> = {}): LaunchTemplate => ({
  name: "karpenter.k8s.aws/1",
  imageId: imageFor(fake),
  userData: "#!/bin/bash",
  instanceProfile: `KarpenterNodeInstanceProfile-${CLUSTER}`,
  blockDeviceMappings: [],
  metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
  detailedMonitoring: false,
  securityGroupIds: [...fake.state.securityGroups.keys()].slice(0, 1),
  capacityType: "spot",
  tags,
  ...more,
});

const request = (more: Partial<FleetRequest> = {}): FleetRequest => ({
  clientToken: "token",
  capacityType: "spot",
  tags: { ...tags, "karpenter.sh/nodeclaim": "default-abcde" },
  launchTemplates: [
    {
      name: "karpenter.k8s.aws/1",
      overrides: [
        { instanceType: "m5.large", zone: "us-west-2a", subnetId: subnetIn(fake, "us-west-2a"), imageId: imageFor(fake), price: 0.03 },
      ],
    },
  ],
  ...more,
});

/** The calls of lifecycle from a launch to a termination. */
async function liveAndDie(statements: readonly Statement[]): Promise<void> {
  const fleet = ec2Fleet(new EC2Client(callAs("lifecycle", statements)));
  await fleet.ensureLaunchTemplate(template());
  const { instance, errors } = await fleet.launch(request());
  expect(errors).toEqual([]);
  await fleet.tag(instance?.id ?? "", { Name: "a", "karpenter.sh/nodeclaim": "default-abcde", "karpenter-serverless/claim-uid": "uid-1" });
  await fleet.list(CLUSTER);
  await fleet.impaired?.();
  await fleet.terminate(instance?.id ?? "");
  await fleet.removeLaunchTemplates?.(CLUSTER, Number.MAX_SAFE_INTEGER);
}

/** The calls of catalog for one EC2NodeClass and for prices. */
async function resolve(statements: readonly Statement[]): Promise<void> {
  const config = callAs("catalog", statements);
  const inventory = awsInventory({
    ...{ ec2: new EC2Client(config), ssm: new SSMClient(config), iam: new IAMClient(config), pricing: new PricingClient(config) },
  });
  const profile = instanceProfileOf(nodeClass, `KarpenterNodeRole-${CLUSTER}`, CLUSTER, "us-west-2");
  await inventory.ensureInstanceProfile(profile);
  await inventory.instanceProfiles?.(profile.path);
  await inventory.removeInstanceProfile?.(profile.name);
  await inventory.parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id");
  await Promise.all([inventory.subnets([]), inventory.securityGroups([]), inventory.images([{ id: imageFor(fake) }]), inventory.zones()]);
  await Promise.all([inventory.instanceTypes(), inventory.instanceTypeZones(), inventory.onDemandPrices(), inventory.spotPrices()]);
}

const LIVES = { lifecycle: liveAndDie, catalog: resolve } as const;

describe.for(["lifecycle", "catalog"] as const)("the role of %s", (name) => {
  const play = LIVES[name];

  it("the role allows every call of the function to EC2, IAM, SSM and Pricing", async () => {
    await play(statementsOf(name));
    expect(permissions.refusals()).toEqual([]);
  });

  const needed = statementsOf(name).filter(({ Action }) => Action.some((action) => /^(ec2|iam|ssm|pricing):/.test(action)));
  it.for(needed.map((statement) => [statement.Sid ?? "", statement] as const))("is too small without %s", async ([, without]) => {
    await expect(play(statementsOf(name).filter((statement) => statement !== without))).rejects.toThrow(/not authorized/);
    expect(permissions.refusals().length).toBeGreaterThan(0);
  });
});

describe("the limits of the role of lifecycle", () => {
  const fleetOf = () => ec2Fleet(new EC2Client(callAs("lifecycle", statementsOf("lifecycle"))));

  it("lifecycle may not launch or make templates for a cluster that the stack does not serve", async () => {
    const foreign = { ...tags, "eks:eks-cluster-name": "somebody-elses" };
    await expect(fleetOf().ensureLaunchTemplate(template({ tags: foreign }))).rejects.toThrow(/not authorized.*CreateLaunchTemplate/s);
    await fleetOf().ensureLaunchTemplate(template());
    await expect(fleetOf().launch(request({ tags: foreign }))).rejects.toThrow(/not authorized.*CreateFleet/s);
  });

  it("lifecycle may not launch without tags", async () => {
    await fleetOf().ensureLaunchTemplate(template());
    await expect(fleetOf().launch(request({ tags: {} }))).rejects.toThrow(/not authorized/);
  });

  it("lifecycle may not terminate an instance that is not a node of these clusters", async () => {
    const fleet = fleetOf();
    await fleet.ensureLaunchTemplate(template());
    const { instance } = await fleet.launch(request());
    fake.state.instances.get(instance?.id ?? "")?.tags.set("eks:eks-cluster-name", "somebody-elses");
    await expect(fleet.terminate(instance?.id ?? "")).rejects.toThrow(/not authorized.*TerminateInstances/s);
  });

  it("lifecycle may not tag an instance of a cluster that the stack does not serve", async () => {
    const fleet = fleetOf();
    await fleet.ensureLaunchTemplate(template());
    const { instance } = await fleet.launch(request());
    fake.state.instances.get(instance?.id ?? "")?.tags.set("eks:eks-cluster-name", "somebody-elses");
    await expect(fleet.tag(instance?.id ?? "", { "karpenter.sh/nodeclaim": "a" })).rejects.toThrow(/not authorized.*CreateTags/s);
  });

  it("lifecycle may not change whose instance it is after its launch", async () => {
    const fleet = fleetOf();
    await fleet.ensureLaunchTemplate(template());
    const { instance } = await fleet.launch(request());
    await expect(fleet.tag(instance?.id ?? "", { "karpenter.sh/nodepool": "other" })).rejects.toThrow(/not authorized.*CreateTags/s);
  });

  it("lifecycle may not give an instance a role that is not the nodes'", async () => {
    fake.state.instanceProfiles.set("admin", { name: "admin", id: "AIPA1", path: "/", createdAt: 0, tags: new Map(), role: "Admin" });
    const fleet = fleetOf();
    await fleet.ensureLaunchTemplate(template({ instanceProfile: "admin" }));
    await expect(fleet.launch(request())).rejects.toThrow(/not authorized.*PassRole.*role\/Admin/s);
  });
});
