import { describe, expect, it } from "vitest";
import { isTrue } from "#core/model/conditions.ts";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import { nodeClaim, nodeClass, nodePool, TestWorld } from "./world.ts";

const HASH = "karpenter.k8s.aws/ec2nodeclass-hash";
const VERSION = `${HASH}-version`;

async function refresh(world: TestWorld, passMs = 0): Promise<TestWorld> {
  world.now += passMs;
  await refreshNodeClasses(world.deps, world.memory);
  return world;
}

function open(...kinds: readonly ("EC2NodeClass" | "NodePool")[]): TestWorld {
  const world = new TestWorld();
  if (kinds.includes("EC2NodeClass")) world.put("EC2NodeClass", nodeClass());
  if (kinds.includes("NodePool")) world.put("NodePool", nodePool());
  return world;
}

describe("refreshNodeClasses", () => {
  it("a new EC2NodeClass and its NodePool become ready in one round, and the planner is woken", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    const { metadata, status } = world.get("EC2NodeClass", "default");
    expect(metadata.finalizers).toEqual(["karpenter.k8s.aws/termination"]);
    expect(metadata.annotations).toMatchObject({ [HASH]: expect.stringMatching(/^[0-9a-f]{16}$/), [VERSION]: "karpenter-serverless/v1" });
    expect(status).toMatchObject({
      subnets: [
        { id: "subnet-b", zone: "us-west-2b", zoneID: "usw2-az1" },
        { id: "subnet-a", zone: "us-west-2a", zoneID: "usw2-az2" },
      ],
      securityGroups: [{ id: "sg-1", name: "cluster" }],
      instanceProfile: expect.stringMatching(/^prod_/),
    });
    expect(status?.amis).toHaveLength(5);
    const pool = world.get("NodePool", "default");
    expect(pool.metadata.annotations).toMatchObject({ "karpenter.sh/nodepool-hash-version": "v3" });
    expect(pool.status).toMatchObject({ nodes: 0, resources: { cpu: "0", nodes: "0" } });
    expect(isTrue(status?.conditions, "Ready") && isTrue(pool.status?.conditions, "Ready")).toBe(true);
    expect(world.wakeUps).toMatchObject([
      { kind: "provision", cause: "NodeClassReady", detail: "default" },
      { kind: "disruption", cause: "DefinitionChanged", detail: "EC2NodeClass default" },
      { kind: "provision", cause: "NodePoolReady", detail: "default" },
      { kind: "disruption", cause: "DefinitionChanged", detail: "NodePool default" },
    ]);
  });

  it("nothing is written and no call is made while nothing is due", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    world.writes.length = 0;
    world.calls.length = 0;
    await refresh(world, 10_000);
    expect(world.writes).toEqual([]);
    expect(world.calls).toEqual([]);
    await refresh(world, 50_000);
    expect(world.calls).toEqual(["subnets"]);
    await refresh(world, 4 * 60_000);
    expect(world.calls.filter((call) => call === "images")).toHaveLength(1);
    expect(world.calls.filter((call) => call === "ensureInstanceProfile")).toEqual([]);
    expect(world.writes).toEqual([]);
  });

  it("subnets in another order of their free addresses are no change of the status", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    world.wakeUps.length = 0;
    world.writes.length = 0;
    world.subnets = world.subnets.map((subnet) => ({ ...subnet, availableIps: subnet.id === "subnet-a" ? 300 : 200 }));
    await refresh(world, 60_000);
    expect(world.writes).toEqual([]);
    expect(world.wakeUps).toEqual([]);
    world.subnets = world.subnets.slice(1);
    await refresh(world, 60_000);
    expect(world.wakeUps.map(({ kind }) => kind)).toEqual(["provision", "disruption"]);
  });

  it("a changed spec or a lost memory resolves an EC2NodeClass at once", async () => {
    const world = await refresh(open("EC2NodeClass"));
    const changed = world.get("EC2NodeClass", "default");
    world.put("EC2NodeClass", {
      ...changed,
      metadata: { ...changed.metadata, generation: 2 },
      spec: { ...changed.spec, tags: { team: "a" } },
    });
    world.calls.length = 0;
    await refresh(world, 1_000);
    expect(new Set(world.calls)).toEqual(new Set(["subnets", "securityGroups", "version", "parameter", "images", "ensureInstanceProfile"]));
    expect(world.get("EC2NodeClass", "default").status?.conditions?.every(({ observedGeneration }) => observedGeneration === 2)).toBe(true);
    expect(world.get("EC2NodeClass", "default").metadata.annotations?.[HASH]).not.toBe(changed.metadata.annotations?.[HASH]);
    world.memory.clear();
    world.calls.length = 0;
    await refresh(world, 1_000);
    expect(world.calls).toContain("images");
  });

  it("without subnets the NodePool is not ready, until they are found a minute later", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    const subnets = world.subnets;
    world.subnets = [];
    await refresh(world, 60_000);
    expect(isTrue(world.get("NodePool", "default").status?.conditions, "Ready")).toBe(false);
    world.subnets = subnets;
    world.wakeUps.length = 0;
    await refresh(world, 60_000);
    expect(isTrue(world.get("NodePool", "default").status?.conditions, "Ready")).toBe(true);
    expect(world.wakeUps.map(({ kind }) => kind)).toEqual(["provision", "disruption", "provision", "disruption"]);
  });

  it("a lookup that fails is made again after 2, 4, 8, 16 and 30 s, and each minute after that", async () => {
    const world = open("EC2NodeClass");
    world.broken.add("parameter");
    const delays: unknown[] = [];
    for (let pass = 0; pass < 7; pass++) {
      world.wakeUps.length = 0;
      world.calls.length = 0;
      await refresh(world, 2_000);
      expect(world.calls.includes("parameter")).toBe(pass < 6);
      delays.push(world.wakeUps.map((wakeUp) => wakeUp.kind === "catalog" && wakeUp.delayMs));
    }
    expect(delays).toEqual([[2_000], [4_000], [8_000], [16_000], [30_000], [], []]);
  });

  it("wake-ups for what is written are sent again when the queue did not take them", async () => {
    const world = open("EC2NodeClass");
    const { wake } = world.deps.wakeUps;
    let calls = 0;
    const wakeUps = { wake: (asked: Parameters<typeof wake>[0]) => (calls++ === 0 ? Promise.reject(new Error("away")) : wake(asked)) };
    await refreshNodeClasses({ ...world.deps, wakeUps, inventory: world.inventory }, world.memory);
    expect(world.wakeUps.map(({ kind }) => kind)).toEqual(["provision", "disruption"]);
  });

  it("the other parts are resolved when one fails, and the failure is logged", async () => {
    const world = open("EC2NodeClass");
    world.broken.add("parameter");
    await refresh(world);
    expect(world.errors).toEqual(["failed resolving EC2NodeClass: parameter is out of order"]);
    const { status } = world.get("EC2NodeClass", "default");
    expect(status?.subnets).toHaveLength(2);
    expect(status?.conditions?.find(({ type }) => type === "AMIsReady")).toMatchObject({
      status: "Unknown",
      message: "parameter is out of order",
    });
    world.broken.clear();
    await refresh(world, 60_000);
    expect(isTrue(world.get("EC2NodeClass", "default").status?.conditions, "Ready")).toBe(true);
  });

  it("a write that met a conflict is tried again in the next round", async () => {
    const world = open("EC2NodeClass");
    const { updateStatus } = world.kubernetes;
    world.kubernetes.updateStatus = async (kind, object) =>
      updateStatus(kind, { ...object, metadata: { ...object.metadata, resourceVersion: "0" } });
    await refresh(world);
    expect(world.get("EC2NodeClass", "default").status).toBeUndefined();
    world.kubernetes.updateStatus = updateStatus;
    await refresh(world, 1_000);
    expect(isTrue(world.get("EC2NodeClass", "default").status?.conditions, "Ready")).toBe(true);
  });

  // Karpenter 1.14 writes v5, and 1.15 v6.
  it.for(["v5", "v6"])("NodeClaims with hash version %s are moved, and drifted ones keep their hash", async (version) => {
    const world = open("EC2NodeClass");
    const left = world.get("EC2NodeClass", "default");
    world.put("EC2NodeClass", { ...left, metadata: { ...left.metadata, annotations: { [HASH]: "1", [VERSION]: version } } });
    world.put("NodeClaim", nodeClaim("a", { [HASH]: "1", [VERSION]: version }));
    world.put("NodeClaim", nodeClaim("b", { [HASH]: "2", [VERSION]: version }, true));
    world.put("NodeClaim", nodeClaim("c"));
    await refresh(world);
    const hash = world.get("EC2NodeClass", "default").metadata.annotations?.[HASH];
    expect(world.get("NodeClaim", "a").metadata.annotations).toEqual({ [HASH]: hash, [VERSION]: "karpenter-serverless/v1" });
    expect(world.get("NodeClaim", "b").metadata.annotations).toEqual({ [HASH]: "2", [VERSION]: "karpenter-serverless/v1" });
    expect(world.get("NodeClaim", "c").metadata.annotations).toEqual({});
  });

  it("a deleted EC2NodeClass stays until its NodeClaims are gone, then its instance profile is removed", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    const current = world.get("EC2NodeClass", "default");
    world.put("EC2NodeClass", { ...current, metadata: { ...current.metadata, deletionTimestamp: "2026-11-21T12:00:00Z" } });
    world.put("NodeClaim", nodeClaim("a"));
    await refresh(world, 60_000);
    expect(world.events).toContainEqual(
      expect.objectContaining({ reason: "WaitingOnNodeClaimTermination", message: "Waiting on NodeClaim termination for a" }),
    );
    expect(world.get("NodePool", "default").status?.conditions?.find(({ type }) => type === "NodeClassReady")?.reason).toBe(
      "NodeClassTerminating",
    );
    world.objects.delete("NodeClaim/a");
    await refresh(world, 60_000);
    expect(world.objects.has("EC2NodeClass/default")).toBe(false);
    expect(world.calls).toContain("removeInstanceProfile");
    expect(world.events).toContainEqual(
      expect.objectContaining({ reason: "Finalized", message: "Finalized karpenter.k8s.aws/termination" }),
    );
    expect(world.get("NodePool", "default").status?.conditions?.find(({ type }) => type === "NodeClassReady")?.reason).toBe(
      "NodeClassNotFound",
    );
  });

  it("a user's own instance profile and images are used as they are", async () => {
    const world = new TestWorld();
    const { role: _, ...spec } = nodeClass().spec;
    world.put("EC2NodeClass", {
      ...nodeClass(),
      spec: { ...spec, instanceProfile: "mine", amiFamily: "AL2023", amiSelectorTerms: [{ id: "ami-1" }] },
    });
    await refresh(world);
    const { status } = world.get("EC2NodeClass", "default");
    expect(status).toMatchObject({
      instanceProfile: "mine",
      amis: [{ id: "ami-1", requirements: [{ key: "kubernetes.io/arch", values: ["amd64"] }] }],
    });
    expect(world.calls).not.toContain("ensureInstanceProfile");
    expect(world.calls).not.toContain("version");
  });

  it("a NodePool's status has the resources of its nodes", async () => {
    const world = await refresh(open("EC2NodeClass", "NodePool"));
    world.put("NodeClaim", nodeClaim("a"));
    await refresh(world, 1_000);
    expect(world.get("NodePool", "default").status).toMatchObject({ nodes: 1, resources: { cpu: "2", nodes: "1" } });
  });
});
