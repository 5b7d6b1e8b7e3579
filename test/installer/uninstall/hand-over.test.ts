import { describe, expect, it } from "vitest";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { manifests } from "#infra/manifests.ts";
import { applyObjects, objectsOf } from "#installer/install/apply-manifests.ts";
import { adopt } from "#installer/migrate/adopt.ts";
import { uninstall } from "#installer/uninstall/uninstall.ts";
import { INSTALL_KILLS_EVERY } from "../../support/effort.ts";
import { Killed } from "../install/world.ts";
import { KarpenterWorld } from "../migrate/world.ts";

const OPTIONS = {
  ...{ cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless", drain: false, keepNodes: true, startKarpenter: true },
  ...{ yes: true, dryRun: false },
};
const INTENT = "karpenter-serverless/intent";

/** A cluster whose nodes Karpenter has launched and the functions have. */
async function adopted(): Promise<KarpenterWorld> {
  const world = new KarpenterWorld();
  const { clusterApi, sleep } = world.ports();
  await applyObjects(objectsOf(manifests({ cluster: "c1" })), { api: clusterApi("c1"), print: () => {}, sleep });
  const options = { cluster: "c1", stackName: "karpenter-serverless", keepDeployment: false, dryRun: false, installs: false };
  await adopt(options, world.adoptPorts(), () => {});
  const node = { name: "node-1", annotations: { [INTENT]: "id-1" } };
  world.objects.set("Node/node-1", { apiVersion: "v1", kind: "Node", metadata: node });
  world.calls = 0;
  return world;
}

async function run(world: KarpenterWorld, changed: Partial<typeof OPTIONS> = {}) {
  const lines: string[] = [];
  const answer = await uninstall({ ...OPTIONS, ...changed }, world.uninstallPorts(), (line) => lines.push(line)).catch(
    (error: Error) => error,
  );
  return { answer, text: lines.join("\n") };
}

/** What Karpenter finds: objects without times, and no records. */
async function left(world: KarpenterWorld): Promise<object> {
  const objects = [...world.objects].filter(([key]) => !/^(Lease|CustomResourceDefinition|Pod)\//.test(key)).sort();
  return { objects, records: await world.records.list("c1"), stack: world.stack };
}

/** Karpenter's Lease at each moment that the functions may look. */
const holders = (world: KarpenterWorld): string[] => {
  const seen: string[] = [];
  const pass = world.onSleep;
  world.onSleep = async () => {
    const { spec } = (world.objects.get("Lease/karpenter-leader-election") ?? {}) as {
      readonly spec?: { readonly holderIdentity?: string };
    };
    seen.push(spec?.holderIdentity ?? "nobody");
    await pass();
  };
  return seen;
};

/** A request that EC2 has not answered yet. */
const LAUNCH = { clientToken: "t", capacityType: "spot", launchTemplates: [], tags: {} } as const;

describe("uninstall --keep-nodes --start-karpenter", () => {
  it("holds Karpenter's Lease, takes rights, annotations and records away, starts Karpenter, then removes the stack", async () => {
    const world = await adopted();
    world.left.templates = 3;
    const { answer, text } = await run(world);
    expect(world.left.templates, "Karpenter launches by them").toBe(3);
    expect(text.split("\n")).toEqual([
      "holding Karpenter's Lease, so that no controller decides during the hand-over",
      "the functions have no rights in cluster c1 any more",
      "2 NodeClaims are as Karpenter makes them",
      "the records of its NodeClaims are removed",
      "scaled Deployment kube-system/karpenter to 2; waiting until it is ready",
      "removing the webhooks of cluster c1",
      "removing stack karpenter-serverless; its table table-1 stays",
      "RBAC and FlowSchema of cluster c1 removed",
    ]);
    expect(answer).toMatchObject({ output: expect.stringContaining("stay, because Karpenter works with them") });
    expect(world.stack).toBeUndefined();
    expect(await world.records.list("c1")).toEqual([]);
    expect(world.deployment).toMatchObject({ spec: { replicas: 2 }, metadata: { annotations: {} } });
    expect(world.objects.get("Node/node-1")?.metadata.annotations).toEqual({});
    const claim = world.objects.get("NodeClaim/default-1");
    expect(claim?.metadata).toMatchObject({ finalizers: ["karpenter.sh/termination"], annotations: { "karpenter.sh/nodepool-hash": "1" } });
    expect(claim?.metadata.annotations).not.toHaveProperty(INTENT);
    expect([...world.objects.keys()].filter((key) => /karpenter-serverless/.test(key) && !/^CustomResource/.test(key))).toEqual([]);
    expect(world.objects.get("Lease/karpenter-leader-election")).toMatchObject({ spec: { holderIdentity: "karpenter-1" } });
  });

  it("it is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = await adopted();
    await run(whole);
    const total = whole.calls;
    expect(total).toBeGreaterThan(40);
    for (let call = 1; call <= total; call += INSTALL_KILLS_EVERY) {
      for (const when of ["before", "after"] as const) {
        const world = await adopted();
        world.killAt = { call, when };
        expect((await run(world)).answer, `${when} call ${call}`).toBeInstanceOf(Killed);
        world.killAt = undefined;
        expect((await run(world)).answer, `${when} call ${call}`).not.toBeInstanceOf(Error);
        expect(await left(world), `${when} call ${call}`).toEqual(await left(whole));
      }
    }
  });

  it.for<{ readonly what: string; readonly open: Partial<NodeClaimRecord> }>([
    { what: "whose launch has no outcome yet", open: { launch: LAUNCH } },
    { what: "whose end was decided and not begun", open: { terminating: { reason: "expired", at: 0 } } },
  ])("waits for a NodeClaim $what, and holds both leases meanwhile", async ({ open }) => {
    const world = await adopted();
    const record = await world.records.get("c1", "default-1");
    if (record === undefined) throw new Error("there is no record");
    await world.records.update({ ...record, ...open });
    const seen = holders(world);
    const pass = world.onSleep;
    let free: boolean | undefined;
    let looks = 0;
    world.onSleep = async () => {
      await pass();
      looks += 1;
      if (looks !== 20) return;
      free = (await world.records.acquireLease("c1", "provision", world.now, 30_000)) !== undefined;
      const { launch: _, terminating: __, ...settled } = (await world.records.get("c1", "default-1")) ?? record;
      await world.records.update(settled);
    };
    const { text } = await run(world);
    expect(text).toContain("waiting for default-1, which is being launched or ended");
    expect(new Set(seen.slice(0, 20))).toEqual(new Set(["karpenter-serverless-hand-over"]));
    expect(free, "another takes the table's lease").toBe(false);
    expect(await world.records.list("c1")).toEqual([]);
  });

  it("waits also where other objects of the manifests were never applied, and not where its rights are gone already", async () => {
    const open = async (world: KarpenterWorld): Promise<string> => {
      const record = await world.records.get("c1", "default-1");
      if (record === undefined) throw new Error("there is no record");
      await world.records.update({ ...record, launch: LAUNCH });
      return (await run(world)).text;
    };
    const partial = await adopted();
    for (const key of [...partial.objects.keys()].filter((key) => key.startsWith("FlowSchema/"))) partial.objects.delete(key);
    expect(await open(partial)).toContain("waiting for default-1");
    const without = await adopted();
    without.objects.delete("ClusterRoleBinding/karpenter-serverless:lifecycle");
    expect(await open(without)).not.toContain("waiting for default-1");
  });

  it("a launch that never ends is told, the leases are given back, and nothing is removed", async () => {
    const world = await adopted();
    const record = await world.records.get("c1", "default-1");
    if (record === undefined) throw new Error("there is no record");
    await world.records.update({ ...record, launch: LAUNCH });
    const { answer } = await run(world);
    expect(String(answer)).toContain("NodeClaim default-1 is still being launched or ended");
    expect(world.objects.has("Lease/karpenter-leader-election")).toBe(false);
    expect(await world.records.acquireLease("c1", "provision", world.now, 30_000)).toBeDefined();
    expect(world.objects.has("ClusterRole/karpenter-serverless:lifecycle")).toBe(true);
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
  });

  it("ends when a function has taken the cluster's lease meanwhile", async () => {
    const world = await adopted();
    const record = await world.records.get("c1", "default-1");
    if (record === undefined) throw new Error("there is no record");
    await world.records.update({ ...record, launch: LAUNCH });
    const pass = world.onSleep;
    world.onSleep = async () => {
      world.now += 60_000;
      await world.records.acquireLease("c1", "provision", world.now, 120_000);
      await pass();
    };
    const { answer } = await run(world);
    expect(String(answer)).toContain("another function took the lease of cluster c1");
    expect(world.objects.has("ClusterRole/karpenter-serverless:lifecycle"), "its rights stay").toBe(true);
    expect(world.objects.has("Lease/karpenter-leader-election")).toBe(false);
  });

  it("in a stack that serves other clusters too, the records of this cluster go and the stack stays", async () => {
    const world = await adopted();
    if (world.stack !== undefined) world.stack.outputs = { ...world.outputs, Clusters: "c1,c2" };
    const { answer } = await run(world);
    expect(answer).toMatchObject({ output: expect.stringContaining("also serves c2: deploy it without c1") });
    expect(await world.records.list("c1")).toEqual([]);
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
  });

  it("without --start-karpenter it says how Karpenter is started", async () => {
    const world = await adopted();
    const { answer } = await run(world, { startKarpenter: false });
    expect(world.deployment.spec.replicas).toBe(0);
    expect(answer).toMatchObject({
      output: expect.stringContaining(
        "no controller manages the nodes until Karpenter runs; start it: kubectl scale deployment karpenter --namespace kube-system --replicas 2",
      ),
    });
  });

  it("a dry run says what would stay and what would go, and changes nothing", async () => {
    const world = await adopted();
    const before = await left(world);
    const { text } = await run(world, { dryRun: true });
    expect(text).toContain("- leave 2 NodeClaims (default-1, default-2), 1 EC2NodeClass (default) to Karpenter: the functions finish");
    expect(text).toContain("- scale Deployment kube-system/karpenter to 2");
    expect(await left(world)).toEqual(before);
  });

  it.for([
    { changed: { drain: true }, want: "--drain ends the nodes and --keep-nodes keeps them; give one of them" },
    { changed: { keepNodes: false }, want: "--start-karpenter goes with --keep-nodes; give both" },
  ])("refuses words that contradict each other: $want", async ({ changed, want }) => {
    const world = await adopted();
    expect(String((await run(world, changed)).answer)).toContain(want);
  });

  it("keeps no nodes of a cluster that EKS does not know, and ends none either", async () => {
    const world = await adopted();
    world.isClusterGone = true;
    world.left.instances = ["i-1"];
    expect(String((await run(world)).answer)).toContain("Cluster c1 does not exist in EKS. Omit --keep-nodes to remove its leftovers.");
    expect(world.left.instances).toEqual(["i-1"]);
  });

  it("refuses to start a Karpenter that is not there", async () => {
    const world = await adopted();
    world.objects.delete("Deployment/karpenter");
    expect(String((await run(world)).answer)).toContain("there is no Deployment of Karpenter to start");
  });
});
