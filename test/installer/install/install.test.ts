import { describe, expect, it } from "vitest";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { parseSettings } from "#infra/settings.ts";
import type { InstallPorts } from "#installer/account/ports.ts";
import { install } from "#installer/install/install.ts";
import { InputError } from "#terminal/input-error.ts";
import { Killed, killedAndRunAgain, SECRET, World } from "./world.ts";

const settings = parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2" }, "test");
const NOTIFY = "ValidatingWebhookConfiguration/karpenter-serverless-notify";
const OPTIONS = {
  cluster: "c1",
  region: "us-west-2",
  settings,
  hasEndpointOption: false,
  tagNetwork: false,
  withDefaultPool: true,
  dryRun: false,
};

/** Runs the installer; the error where it throws one. */
async function run(world: World, changed: Partial<typeof OPTIONS> = {}, account: Partial<InstallPorts["account"]> = {}) {
  const lines: string[] = [];
  const answer = await install({ ...OPTIONS, ...changed }, world.ports(account), (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, text: lines.join("\n") };
}

describe("install", () => {
  it("everything is made in an empty account, and the secret is printed nowhere", async () => {
    const world = new World();
    const { answer, text } = await run(world);
    expect(answer).toEqual({ output: "cluster c1 is served: pods that fit nowhere get nodes\n" });
    expect([...world.bucket.keys()].sort()).toEqual(["code.zip", "template.json"]);
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
    const kinds = [...world.objects.keys()];
    expect(kinds.filter((key) => key.startsWith("CustomResourceDefinition/"))).toHaveLength(5);
    expect(kinds).toEqual(
      expect.arrayContaining(["NodePool/default", "EC2NodeClass/default", "ValidatingWebhookConfiguration/karpenter-serverless-notify"]),
    );
    const objects = JSON.stringify([...world.objects.values()]);
    expect([objects.includes(clusterToken(SECRET, "c1")), objects.includes(SECRET)]).toEqual([true, false]);
    expect(text + JSON.stringify(answer)).not.toContain(SECRET);
  });

  it("the installer is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = new World();
    await run(whole);
    expect(whole.calls).toBeGreaterThan(20);
    for await (const { world, first, second, at } of killedAndRunAgain(() => new World(), run, whole.calls)) {
      if (!(first instanceof Killed)) expect(first).toBeInstanceOf(InputError);
      expect(second, at).not.toBeInstanceOf(Error);
      const { stack, ...others } = world.end() as { readonly stack: { readonly outputs: object } };
      expect({ ...others, outputs: stack.outputs }, at).toEqual({ ...whole.end(), stack: undefined, outputs: whole.stack?.outputs });
    }
  });

  it("a creation that fails tells CloudFormation's reason, and the next run removes what it left", async () => {
    const world = new World();
    world.ending = "Specified ReservedConcurrentExecutions decreases the account's limit.";
    const { answer } = await run(world);
    expect(String(answer)).toContain(
      "ended as ROLLBACK_COMPLETE: Notify: Specified ReservedConcurrentExecutions decreases the account's limit; fix that, then run the command again",
    );
    expect(world.objects.size).toBe(0);
    world.ending = "COMPLETE";
    const { text } = await run(world);
    expect(text).toContain("removing what a creation that failed has left of stack karpenter-serverless (ROLLBACK_COMPLETE)");
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
  });

  it.for([
    { refuses: ["AWS::Lambda::Url"], hasAuditLog: false, publicUrl: "apiGateway", sources: ["notify", "sweep"] },
    { refuses: ["AWS::Lambda::Url", "AWS::ApiGatewayV2::Api"], hasAuditLog: true, publicUrl: "none", sources: ["audit", "sweep"] },
    { refuses: ["AWS::Lambda::Url", "AWS::ApiGatewayV2::Api"], hasAuditLog: false, publicUrl: "none", sources: ["sweep"] },
    {
      ...{ refuses: ["AWS::Lambda::Url", "AWS::ApiGatewayV2::Api", "AWS::Logs::SubscriptionFilter"], hasAuditLog: true },
      ...{ publicUrl: "none", sources: ["sweep"] },
    },
  ])("an account that refuses $refuses (audit log: $hasAuditLog) gets $publicUrl and $sources, is told why, and keeps it", async (row) => {
    const world = new World();
    world.refuses = row.refuses;
    world.hasAuditLog = row.hasAuditLog;
    const { answer, text } = await run(world);
    expect(answer).not.toBeInstanceOf(Error);
    expect(text).toContain("the account refuses function URLs (Notify: an SCP denies it); API servers call API Gateway instead");
    expect(world.settings.at(-1)).toMatchObject({ publicUrl: row.publicUrl, clusters: [{ sources: row.sources }] });
    const deployments = world.settings.length;
    world.outputs = { ...world.outputs, UrlKind: row.publicUrl, Sources: row.sources.join(",") };
    if (world.stack !== undefined) world.stack.outputs = world.outputs;
    await run(world);
    expect(world.settings).toHaveLength(deployments + 1);
    expect(world.settings.at(-1)).toMatchObject({ publicUrl: row.publicUrl, clusters: [{ sources: row.sources }] });
  });

  it("a way in that the person has asked for is not replaced by another, nor where the failure is another's", async () => {
    const asked = new World();
    asked.refuses = ["AWS::Lambda::Url"];
    expect(String((await run(asked, { hasEndpointOption: true })).answer)).toContain("an SCP denies it");
    const other = new World();
    other.ending = "the account is full";
    expect(String((await run(other)).answer)).toContain("the account is full");
  });

  it("a check that fails changes nothing", async () => {
    const world = new World();
    const { answer, text } = await run(world, {}, { roleArn: async () => undefined });
    expect(String(answer)).toContain("one check fails, so nothing was installed");
    expect(text).toContain("FAULT  node role: there is no role KarpenterNodeRole-c1");
    expect(world.end()).toEqual(new World().end());
  });

  it("a dry run tells the checks and the steps, and changes nothing", async () => {
    const world = new World();
    const { answer, text } = await run(world, { dryRun: true }, { roleArn: async () => undefined });
    expect(answer).toMatchObject({ isUsable: false });
    expect(text).toContain("FAULT  node role");
    expect(text).toContain("- create stack karpenter-serverless");
    expect(world.end()).toEqual(new World().end());
  });

  it("--tag-network tags the cluster's own network, where nothing has the tag", async () => {
    const world = new World();
    const account = {
      tagged: async (kind: string) => (kind === "subnets" ? 0 : 1),
      cluster: async () => ({
        ...(await world.ports().account.cluster("c1")),
        subnetIds: ["subnet-1", "subnet-2"],
        securityGroupId: "sg-1",
      }),
    };
    expect((await run(world, { dryRun: true, tagNetwork: true }, account)).text).toContain("- tag subnets subnet-1, subnet-2");
    expect([...world.taggedIds]).toEqual([]);
    expect((await run(world, { tagNetwork: true }, account)).text).toContain("ok     subnets: --tag-network tags subnet-1, subnet-2");
    expect([...world.taggedIds]).toEqual(["subnet-1", "subnet-2"]);
  });

  it("a stack that serves another cluster, or is another product's, is left alone", async () => {
    for (const outputs of [{ InterruptionQueueArn: "arn:queue", Clusters: "c1,c2" }, { Website: "https://example" }]) {
      const world = new World();
      world.stack = { status: "CREATE_COMPLETE", templateUrl: "", outputs };
      const { answer, text } = await run(world);
      expect(String(answer)).toContain("one check fails, so nothing was installed");
      expect(text).toContain("FAULT  stack: karpenter-serverless");
      expect(world.stack?.status).toBe("CREATE_COMPLETE");
      expect(world.bucket.size).toBe(0);
    }
  });

  it("another product's stack that was under way during the checks is left alone too", async () => {
    const world = new World();
    world.stack = { status: "CREATE_IN_PROGRESS", templateUrl: "", outputs: {} };
    world.outputs = { Website: "https://example" };
    world.slow = 1;
    const { answer } = await run(world);
    expect(String(answer)).toContain("karpenter-serverless is another product's stack");
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
  });

  it("a node role that the stack has made stays in it when nobody asks for it again", async () => {
    const world = new World();
    world.outputs = { ...world.outputs, ClustersWithNodeRole: "c1" };
    await run(world);
    expect(world.settings.at(-1)?.createNodeRoles).toBe(false);
    await run(world);
    expect(world.settings.at(-1)?.createNodeRoles).toBe(true);
  });

  it("a stack that already is what the template says counts as deployed, also after an update that failed", async () => {
    const world = new World();
    await run(world);
    if (world.stack !== undefined) world.stack.status = "UPDATE_ROLLBACK_COMPLETE";
    const { answer, text } = await run(world);
    expect(answer).not.toBeInstanceOf(Error);
    expect(text).toContain("nothing is to be updated");
  });

  it("a webhook whose URL the stack no longer has is removed from the cluster", async () => {
    const world = new World();
    await run(world);
    expect(world.objects.has(NOTIFY)).toBe(true);
    const { NotifyUrl: _, ...others } = world.outputs;
    if (world.stack !== undefined) world.stack.outputs = others;
    const { text } = await run(world);
    expect(world.objects.has(NOTIFY)).toBe(false);
    expect(text).toContain("ValidatingWebhookConfiguration karpenter-serverless-notify removed");
  });

  it("the reasons of a failure are those of the last attempt", async () => {
    const world = new World();
    world.ending = "the first reason";
    await run(world);
    world.ending = "the second reason";
    const { answer } = await run(world);
    expect(String(answer)).toContain("Notify: the second reason");
    expect(String(answer)).not.toContain("the first reason");
  });

  it("what others have made stays: their CapacityBuffer kind, and a person's own default NodePool", async () => {
    const world = new World();
    const theirs = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "capacitybuffers.autoscaling.x-k8s.io" },
    };
    const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" } };
    world.objects.set("CustomResourceDefinition/capacitybuffers.autoscaling.x-k8s.io", theirs);
    world.objects.set("NodePool/default", pool);
    const { text } = await run(world);
    expect(world.objects.get("CustomResourceDefinition/capacitybuffers.autoscaling.x-k8s.io")).toBe(theirs);
    expect(world.objects.get("NodePool/default")).toBe(pool);
    expect(text).toContain("NodePool default is there already, and stays as it is");
  });

  it("a stack that CloudFormation does not show yet, because a run that was killed has just ordered it, is brought up to date", async () => {
    const world = new World();
    world.stack = { status: "CREATE_COMPLETE", templateUrl: "", outputs: world.outputs };
    const ports = world.ports();
    let looks = 0;
    const describe = async (name: string) => {
      looks += 1;
      return looks <= 2 ? undefined : ports.stacks.describe(name);
    };
    const stacks = { ...ports.stacks, describe };
    const lines: string[] = [];
    const { output } = await install(OPTIONS, { ...ports, stacks }, (line) => lines.push(line));
    expect(output).toContain("cluster c1 is served");
    expect(lines).toEqual(expect.arrayContaining(["creating stack karpenter-serverless", "updating stack karpenter-serverless"]));
    expect(world.stack.status).toBe("UPDATE_COMPLETE");
  });

  it("an installation under way elsewhere is waited for, and then brought up to date", async () => {
    const world = new World();
    world.stack = { status: "CREATE_IN_PROGRESS", templateUrl: "", outputs: {} };
    world.slow = 1;
    const { text } = await run(world);
    expect(text).toContain("stack karpenter-serverless is CREATE_IN_PROGRESS: waiting for its end");
    expect(world.stack?.status).toBe("UPDATE_COMPLETE");
  });
});
