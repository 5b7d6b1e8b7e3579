import { describe, expect, it } from "vitest";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  expectAccountedFor,
  INFLATE,
  ids,
  line,
  MINUTE,
  names,
  POOL,
  pass,
  reasons,
  records,
  running,
  runningPods,
} from "../support/lab-story.ts";

const OBJECTS: readonly ApiObject[] = [NODE_CLASS, POOL, INFLATE];
const REPAIR = { settings: { nodeRepair: true } };

/** Sets a condition as the node monitoring agent or the node controller would. */
function accuse(lab: Lab, type: string, status: Condition["status"] = "False", name = names(lab, "Node")[0] ?? ""): void {
  lab.world.store.patch("Node", name, undefined, { user: "node-monitoring-agent", subresource: "status" }, (node) => {
    const lastTransitionTime = new Date(lab.world.clock.now()).toISOString();
    const others = (node.status.conditions as readonly Condition[]).filter((condition) => condition.type !== type);
    node.status.conditions = [...others, { type, status, reason: "Broken", lastTransitionTime }];
    return node;
  });
}

/** A NodePool of two to five nodes that stay: two of them are more than a fifth. */
async function withFewNodes() {
  const still = nodePool([ON_DEMAND, FAMILIES], { disruption: { consolidateAfter: "Never" } });
  const lab = await running(2, [NODE_CLASS, still, INFLATE], REPAIR);
  lab.world.scale("Deployment", "default", "inflate", 14);
  await pass(lab, 3 * MINUTE);
  const before = ids(lab);
  expect([2, 3, 4, 5]).toContain(before.length);
  return { lab, before };
}

const conditions = (lab: Lab, kind: string): readonly Condition[] =>
  (lab.world.store.list(kind)[0]?.status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

const budget = (maxUnavailable: number): ApiObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "inflate", namespace: "default" },
  spec: { maxUnavailable, selector: { matchLabels: { app: "inflate" } } },
});

describe("an unhealthy node", () => {
  it("is replaced by force under LEGACY_NODE_REPAIR, whatever its PodDisruptionBudgets", async () => {
    const lab = await running(2, [...OBJECTS, budget(0)], { settings: { nodeRepair: true, legacyNodeRepair: true } });
    const [before] = ids(lab);
    accuse(lab, "KernelReady");
    await pass(lab, 29 * MINUTE);
    expect(ids(lab)).toEqual([before]);
    await pass(lab, 6 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    expect(line(lab, "deleting unhealthy node")?.fields).toMatchObject({ condition: "KernelReady" });
    expect(line(lab, "deleted nodeclaim")?.fields).toMatchObject({ reason: "unhealthy" });
    lab.close();
  });

  it("that is silent is removed after its toleration duration; its pods run elsewhere by then", async () => {
    const lab = await running(2, OBJECTS, REPAIR);
    const [before = ""] = ids(lab);
    accuse(lab, "Ready", "Unknown");
    await pass(lab, 15 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    expect(ids(lab)).toContain(before);
    await pass(lab, 20 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    await expectAccountedFor(lab, ids(lab).length);
    lab.close();
  });

  it("stays when more than a fifth of its NodePool is unhealthy, and an event says so", async () => {
    const { lab, before } = await withFewNodes();
    accuse(lab, "KernelReady");
    lab.world.store.patch("Node", names(lab, "Node")[1] ?? "", undefined, { user: "agent", subresource: "status" }, (node) => {
      const lastTransitionTime = new Date(lab.world.clock.now()).toISOString();
      node.status.conditions = [...node.status.conditions, { type: "StorageReady", status: "False", lastTransitionTime }];
      return node;
    });
    await pass(lab, 40 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(reasons(lab)).toContain("NodeRepairBlocked");
    lab.close();
  });

  it("counts for the share of its NodePool while its record is lost", async () => {
    const { lab, before } = await withFewNodes();
    for (const name of names(lab, "Node").slice(0, 2)) accuse(lab, "KernelReady", "False", name);
    await pass(lab, 40 * MINUTE);
    expect(ids(lab)).toEqual(before);
    const [lost] = (await records(lab)).filter(({ name }) => name === lab.world.store.list("NodeClaim")[1]?.metadata.name);
    if (lost) await lab.deps.store.remove(lost);
    expect(await records(lab)).toHaveLength(before.length - 1);
    await pass(lab, 5 * MINUTE);
    expect(ids(lab)).toEqual(before);
    await expectAccountedFor(lab, before.length);
    lab.close();
  });

  it("stays where NodeRepair is off", async () => {
    const lab = await running(2);
    const before = ids(lab);
    accuse(lab, "KernelReady");
    await pass(lab, 40 * MINUTE);
    expect(ids(lab)).toEqual(before);
    lab.close();
  });
});

describe("EC2's status checks", () => {
  it.for([
    { name: "a failing check ends it by force", fault: { instanceFailedSince: 0, events: [] }, kind: "instance_status", held: false },
    { name: "a failing host too", fault: { systemFailedSince: 0, events: [] }, kind: "system_status", held: false },
    { name: "a planned event drains it, as its budget allows", fault: { events: ["instance-stop"] }, kind: "event_status", held: true },
  ])("$name", async ({ fault, kind, held }) => {
    const lab = await running(2, [...OBJECTS, budget(0)]);
    const [before = ""] = ids(lab);
    lab.cloud.impair(before, fault);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab).includes(before)).toBe(held);
    if (held) lab.world.apply(budget(1));
    await pass(lab, 3 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    expect(line(lab, "initiating delete from interruption message")?.fields).toMatchObject({ messageKind: kind });
    expect(reasons(lab)).toEqual(expect.arrayContaining(["InstanceUnhealthy", "TerminatingOnInterruption"]));
    lab.close();
  });
});

describe("registration health of a NodePool", () => {
  it("is True once its nodes register, with the promised resources", async () => {
    const lab = await running(2);
    const published = (kind: string, type: string) => conditions(lab, kind).find((condition) => condition.type === type);
    expect(published("NodePool", "NodeRegistrationHealthy")).toMatchObject({ status: "True" });
    expect(published("NodeClaim", "ConsistentStateFound")).toMatchObject({ status: "True" });
    const [name = ""] = names(lab, "Node");
    lab.world.store.patch("Node", name, undefined, { user: "kubelet", subresource: "status" }, (node) => {
      node.status.capacity.cpu = "1";
      return node;
    });
    await pass(lab, 2 * MINUTE);
    expect(published("NodeClaim", "ConsistentStateFound")).toMatchObject({ status: "False", reason: "ConsistencyCheckFailed" });
    expect(lab.world.events.filter(({ reason }) => reason === "FailedConsistencyCheck")).toHaveLength(1);
    lab.close();
  });

  it("is False once its nodes do not register", async () => {
    const before = ({ method }: { readonly method: string }): undefined => {
      if (method === "launch") throw new Error("InternalError: An internal error has occurred");
    };
    const lab = await running(0, OBJECTS, { hooks: { before } });
    lab.world.scale("Deployment", "default", "inflate", 2);
    await pass(lab, 15 * MINUTE);
    expect(conditions(lab, "NodePool").find(({ type }) => type === "NodeRegistrationHealthy")).toMatchObject({ status: "False" });
    lab.close();
  });
});
