import { describe, expect, it } from "vitest";
import { DEPLOYED, deployedOf } from "#infra/deployed.ts";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";
import type { InstallPorts, KubeObject } from "#installer/account/ports.ts";
import { install } from "#installer/install/install.ts";
import { uninstall } from "#installer/uninstall/uninstall.ts";
import { VERSION } from "#settings/version.ts";
import { InputError } from "#terminal/input-error.ts";
import { ACCOUNT, Killed, keyOf, killedAndRunAgain, roleOf, World } from "./world.ts";

const STACK = "karpenter-serverless";
const OWN = "karpenter-serverless-access-c2";
const deployed = parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2" }, "test");
const ROLES = { lifecycle: roleOf("c2", "lifecycle"), catalog: roleOf("c2", "catalog") };
const SERVED = { name: "c2", state: "served", sources: ["notify", "sweep"], roles: ROLES };

/** A stack that serves c1; the objects of the world are those of c2. */
class Stacked extends World {
  constructor(outputs: Readonly<Record<string, string>> = {}) {
    super();
    const roles = FUNCTION_NAMES.map((name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}RoleArn`);
    this.outputs = {
      ...{ ...this.outputs, Version: VERSION, TableName: "table-1", AccessPath: `/karpenter-serverless/${STACK}/` },
      ...Object.fromEntries(roles.map((output) => [output, `arn:aws:iam::${ACCOUNT}:role/${output}`])),
      ...outputs,
    };
    this.stack = { status: "UPDATE_COMPLETE", templateUrl: "", outputs: this.outputs };
    this.metadata = { [DEPLOYED]: deployedOf(deployed) };
    this.resources = [
      { name: "ProvisionSource1A2B", type: "AWS::Lambda::EventSourceMapping", id: "id-provision" },
      { name: "LifecycleSource1A2B", type: "AWS::Lambda::EventSourceMapping", id: "id-claims" },
    ];
    this.sources.set("id-claims", { batchSize: 10, maxConcurrency: 20 });
  }
}

const OPTIONS = {
  ...{ cluster: "c2", region: "us-west-2", settings: parseSettings({ clusters: [{ name: "c2" }], region: "us-west-2" }, "test") },
  ...{ hasEndpointOption: false, tagNetwork: false, withDefaultPool: true, dryRun: false },
};

async function run(world: World, changed: Partial<typeof OPTIONS> = {}, account: Partial<InstallPorts["account"]> = {}) {
  const lines: string[] = [];
  const answer = await install({ ...OPTIONS, ...changed }, world.ports(account), (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, text: lines.join("\n") };
}

async function takeAway(world: World, changed: { readonly cluster?: string; readonly dryRun?: boolean } = {}) {
  const lines: string[] = [];
  const options = {
    ...{
      cluster: "c2",
      region: "us-west-2",
      stackName: STACK,
      drain: true,
      keepNodes: false,
      startKarpenter: false,
      yes: true,
      dryRun: false,
    },
    ...changed,
  };
  const answer = await uninstall(options, world.uninstallPorts(), (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, text: lines.join("\n") };
}

/** c2 was added, and has a node. */
async function added(outputs: Readonly<Record<string, string>> = {}): Promise<Stacked> {
  const world = new Stacked(outputs);
  await run(world);
  const metadata = { name: "default-1", finalizers: ["karpenter.sh/termination"] };
  const claim = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: { nodeClassRef: { group: "karpenter.k8s.aws" } } };
  world.objects.set(keyOf(claim as KubeObject), claim as KubeObject);
  world.left.templates = 1;
  world.orders.length = 0;
  world.calls = 0;
  return world;
}

describe("install of a further cluster", () => {
  it("the cluster is added to the stack that runs: a record, a small stack, manifests; the functions' stack stays as it is", async () => {
    const world = new Stacked();
    const { answer, text } = await run(world);
    expect(answer).toEqual({ output: "cluster c2 is served: pods that fit nowhere get nodes\n" });
    expect(text).toContain(`ok     stack: ${STACK} serves c1, version ${VERSION}; c2 is added to it, and nothing of the others is changed`);
    expect(text).toContain(`wrote c2 into the table of ${STACK}: its functions serve it within a minute`);
    expect(world.orders).toEqual([`CREATE ${OWN}`]);
    expect([...world.clusters.values()]).toEqual([{ ...SERVED, version: 2 }]);
    expect(world.added.size).toBe(1);
    expect([...world.objects.keys()]).toContain("ValidatingWebhookConfiguration/karpenter-serverless-notify");
    expect([...world.objects.keys()]).toContain("NodePool/default");
  });

  it("batches of several clusters are not mixed any more", async () => {
    const world = new Stacked();
    await run(world);
    expect(world.sources.get("id-provision")).toEqual({ batchSize: 1 });
    expect(world.sources.get("id-claims")).toEqual({ batchSize: 10, maxConcurrency: 20 });
  });

  it("the functions are told of the cluster when its roles and its manifests are there, and not before", async () => {
    const world = new Stacked();
    const seen: string[] = [];
    const { clusters } = world;
    const set = clusters.set.bind(clusters);
    clusters.set = (name, record) => {
      seen.push(`${record.state} roles=${world.small.get(OWN)?.status ?? "none"} manifests=${world.objects.size > 0}`);
      return set(name, record);
    };
    await run(world);
    expect(seen).toEqual(["adding roles=none manifests=false", "served roles=CREATE_COMPLETE manifests=true"]);
  });

  it("a dry run says what would be done, and does nothing", async () => {
    const world = new Stacked();
    const { answer, text } = await run(world, { dryRun: true });
    expect(answer).toEqual({ output: "", isUsable: true });
    expect(text).toContain(`- write c2 into the table of ${STACK}, whose functions stay as they are (version ${VERSION})`);
    expect(text).toContain(`- create stack ${OWN}`);
    expect([world.orders, world.clusters.size, world.objects.size]).toEqual([[], 0, 0]);
  });

  it("the installer is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = new Stacked();
    await run(whole);
    expect(whole.calls).toBeGreaterThan(20);
    for await (const { world, first, second, at } of killedAndRunAgain(() => new Stacked(), run, whole.calls)) {
      if (!(first instanceof Killed)) expect(first).toBeInstanceOf(InputError);
      expect(second, at).not.toBeInstanceOf(Error);
      expect(world.end(), at).toEqual(whole.end());
      expect(world.orders.filter((order) => !order.endsWith(OWN))).toEqual([]);
    }
  });

  it("repeated, it keeps the node role that its stack has made", async () => {
    const world = new Stacked();
    const settings = { ...OPTIONS.settings, createNodeRoles: true };
    await run(world, { settings }, { roleArn: async () => undefined, accessEntryType: async () => undefined });
    expect(world.small.get(OWN)?.outputs).toMatchObject({ ClustersWithNodeRole: "c2" });
    await run(world);
    expect([...world.added.values()].at(-1)).toMatchObject({ createNodeRoles: true });
    expect(world.orders).toEqual([`CREATE ${OWN}`]);
  });

  it.for([
    { outputs: { NotifyUrl: "" }, hasAuditLog: true, sources: ["sweep"] },
    { outputs: { NotifyUrl: "", AuditArn: "arn:aws:lambda:us-west-2:1:function:audit" }, hasAuditLog: true, sources: ["audit", "sweep"] },
    { outputs: { NotifyUrl: "", AuditArn: "arn:aws:lambda:us-west-2:1:function:audit" }, hasAuditLog: false, sources: ["sweep"] },
    { outputs: {}, hasAuditLog: true, sources: ["notify", "sweep"] },
    {
      outputs: { NotifyUrl: "", AuditArn: "arn:aws:lambda:us-west-2:1:function:audit" },
      hasAuditLog: true,
      auditGroupClass: "INFREQUENT_ACCESS",
      sources: ["sweep"],
    },
  ])(
    "the stack's own functions say by which way events come: $outputs, audit log $hasAuditLog $auditGroupClass",
    async ({ outputs, hasAuditLog, auditGroupClass = "STANDARD", sources }) => {
      const world = new Stacked();
      world.outputs = Object.fromEntries(Object.entries({ ...world.outputs, ...outputs }).filter(([, value]) => value !== ""));
      world.stack = { status: "UPDATE_COMPLETE", templateUrl: "", outputs: world.outputs };
      world.hasAuditLog = hasAuditLog;
      world.auditGroupClass = auditGroupClass;
      await run(world);
      expect(world.clusters.get("c2")).toMatchObject({ state: "served", sources });
    },
  );

  it.for([
    {
      name: "a source that the stack has no function for",
      change: { hasEndpointOption: true, settings: parseSettings({ clusters: [{ name: "c2", sources: ["audit"] }] }, "test") },
      says: "FAULT  public URL: the stack has no function audit",
    },
    {
      name: "a setting of the whole stack",
      change: { settings: parseSettings({ clusters: [{ name: "c2" }], admission: true, settings: { LOG_LEVEL: "debug" } }, "test") },
      says: "FAULT  stack: admission, settings.LOG_LEVEL would not be what stack karpenter-serverless has for all of its clusters",
    },
  ])("$name is refused, and nothing is changed", async ({ change, says }) => {
    const world = new Stacked();
    const { answer, text } = await run(world, change);
    expect(answer).toBeInstanceOf(InputError);
    expect(text).toContain(says);
    expect([world.orders, world.clusters.size, world.objects.size]).toEqual([[], 0, 0]);
  });

  it("a setting that says what the functions do anyway is not refused", async () => {
    const world = new Stacked();
    const given = { clusters: [{ name: "c2" }], settings: { LOG_LEVEL: "info", BATCH_MAX_DURATION: "10s" } };
    const { answer } = await run(world, { settings: parseSettings(given, "test") });
    expect(answer).not.toBeInstanceOf(Error);
  });

  it("a stack of an older release is not updated for another cluster, and the person is told to upgrade it", async () => {
    const world = new Stacked();
    const { AccessPath: _, ...outputs } = world.outputs;
    world.stack = { status: "UPDATE_COMPLETE", templateUrl: "", outputs };
    const { answer, text } = await run(world);
    expect(answer).toBeInstanceOf(InputError);
    expect(text).toContain(
      "also serves c1, which this would take from it; upgrade it first (upgrade --cluster c1), and c2 can be added to it",
    );
    expect(world.orders).toEqual([]);
  });

  it("a stack of the small stack's name that is somebody else's is left alone", async () => {
    const world = new Stacked();
    world.small.set(OWN, { status: "CREATE_COMPLETE", templateUrl: "", outputs: {} });
    expect(String((await run(world)).answer)).toContain(`stack ${OWN} is not the one that ${STACK} has for cluster c2`);
    expect(world.orders).toEqual([]);
  });
});

describe("uninstall of a cluster that was added", () => {
  it("all that it had goes, the other cluster is served on, and the functions' stack stays as it is", async () => {
    const world = await added();
    const states: string[] = [];
    world.onSleep = () =>
      void states.push(`${world.clusters.get("c2")?.state} ${world.small.has(OWN)} ${world.objects.has("NodeClaim/default-1")}`);
    const { answer, text } = await takeAway(world);
    expect(answer).toMatchObject({
      output: expect.stringContaining(`stack ${STACK} stays, because it also serves c1\n`),
    });
    expect(text).toContain("cluster c2 leaves the stack: nothing is planned for it any more");
    expect(world.orders).toEqual([`DELETE ${OWN}`]);
    expect([world.clusters.size, world.small.size, world.left.templates]).toEqual([0, 0, 0]);
    expect([...world.objects.keys()].filter((key) => !key.startsWith("CustomResourceDefinition/"))).toEqual([]);
    // The roles go when the functions have forgotten the cluster, and that is after its last node.
    expect(states.at(-1)).toBe("left true false");
    expect(world.sources.get("id-provision")).toEqual({ batchSize: 10 });
  });

  it("it is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = await added();
    await takeAway(whole);
    for await (const { world, first, second, at } of killedAndRunAgain(added, takeAway, whole.calls)) {
      if (!(first instanceof Killed)) expect(first).not.toBeInstanceOf(Error);
      // The last call of all takes the record away.
      if (second instanceof Error) expect(String(second)).toContain("does not serve cluster c2");
      expect(world.end(), at).toEqual(whole.end());
      expect(world.orders.filter((order) => !order.endsWith(OWN))).toEqual([]);
    }
  });

  it("the last cluster takes the functions' stack with it", async () => {
    const world = await added();
    await takeAway(world, { cluster: "c1" });
    expect(world.clusters.get("c1")).toMatchObject({ state: "left" });
    expect(world.orders).toEqual([]);
    const { answer } = await takeAway(world);
    expect(answer).not.toBeInstanceOf(Error);
    expect(world.orders).toEqual([`DELETE ${OWN}`, `DELETE ${STACK}`]);
    expect(world.clusters.has("c2")).toBe(false);
  });

  it("a cluster of the stack's settings that has left is served again when it is installed again", async () => {
    const world = await added();
    await takeAway(world, { cluster: "c1" });
    const { answer } = await run(world, { cluster: "c1", settings: deployed });
    expect(answer).not.toBeInstanceOf(Error);
    expect([...world.clusters.keys()]).toEqual(["c2"]);
  });

  it("of a cluster that EKS does not know any more the record and the small stack go too", async () => {
    const world = await added();
    world.isClusterGone = true;
    world.left.instances = ["i-1"];
    const { answer } = await takeAway(world);
    expect(answer).toEqual({ output: `nothing of cluster c2 is left; stack ${STACK} stays\n` });
    expect([world.orders, world.clusters.size, world.left.instances]).toEqual([[`DELETE ${OWN}`], 0, []]);
  });
});
