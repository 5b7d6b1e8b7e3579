import { describe, expect, it } from "vitest";
import type { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { expectAccountedFor, INFLATE, ids, MINUTE, names, pass, reasons, running, runningPods } from "../support/lab-story.ts";

const REPAIR = { settings: { nodeRepair: true } };
/** Nodes that only repair takes away. */
const still = (spec: Readonly<Record<string, unknown>> = {}) =>
  nodePool([ON_DEMAND, FAMILIES], { disruption: { consolidateAfter: "Never", ...spec } });

/** A node takes one of these pods, so that there are as many nodes as pods. */
const APART: ApiObject = {
  ...deployment(0, { cpu: "1" }),
  spec: {
    ...(deployment(0, { cpu: "1" }).spec as object),
    template: {
      metadata: { labels: { app: "inflate" } },
      spec: {
        containers: [{ name: "app", image: "pause", resources: { requests: { cpu: "1" } } }],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: { app: "inflate" } }, topologyKey: "kubernetes.io/hostname" },
            ],
          },
        },
      },
    },
  },
};

const budget = (maxUnavailable: number): ApiObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "inflate", namespace: "default" },
  spec: { maxUnavailable, selector: { matchLabels: { app: "inflate" } } },
});

interface Fault {
  readonly type: string;
  readonly status?: Condition["status"];
  readonly reason?: string;
}

/** Sets a condition as the node monitoring agent or the node controller would. */
function accuse(lab: Lab, { type, status = "False", reason = "Broken" }: Fault, name = names(lab, "Node")[0] ?? ""): void {
  lab.world.store.patch("Node", name, undefined, { user: "node-monitoring-agent", subresource: "status" }, (node) => {
    const lastTransitionTime = new Date(lab.world.clock.now()).toISOString();
    const others = (node.status.conditions as readonly Condition[]).filter((condition) => condition.type !== type);
    node.status.conditions = [...others, { type, status, reason, lastTransitionTime }];
    return node;
  });
}

const total = (lab: Lab, ...[name, labels]: Parameters<ReturnType<typeof memoryMetrics>["total"]>): number =>
  (lab.deps.metrics as ReturnType<typeof memoryMetrics>).total(name, labels);

describe("an unhealthy node", () => {
  it("with the XID of a broken GPU drains for five minutes at most, although a PodDisruptionBudget holds its pods", async () => {
    const lab = await running(2, [NODE_CLASS, still(), INFLATE, budget(0)], REPAIR);
    const [before] = ids(lab);
    accuse(lab, { type: "AcceleratedHardwareReady", reason: "NvidiaXID79Error" });
    await pass(lab, 9 * MINUTE);
    expect(ids(lab)).toEqual([before]);
    await pass(lab, 4 * MINUTE);
    // The replacement is up, and the drain waits.
    expect(ids(lab)).toHaveLength(2);
    expect(ids(lab)).toContain(before);
    expect(runningPods(lab)).toBe(2);
    await pass(lab, 6 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    expect(lab.log.find(({ message }) => message.startsWith("disrupting nodeclaim(s)"))?.fields).toMatchObject({
      reason: "unhealthy",
      decision: "replace",
    });
    lab.close();
  });

  it("whose storage fails is replaced before its pods leave", async () => {
    const lab = await running(2, [NODE_CLASS, still(), INFLATE, budget(1)], REPAIR);
    const [before] = ids(lab);
    accuse(lab, { type: "StorageReady" });
    await pass(lab, 29 * MINUTE);
    expect(ids(lab)).toEqual([before]);
    let least = 2;
    for (let second = 0; second < 480; second++) {
      await pass(lab, 1_000);
      least = Math.min(least, runningPods(lab));
    }
    expect(ids(lab)).not.toContain(before);
    // One pod at a time, as its budget allows.
    expect(least).toBe(1);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("with do-not-repair stays until the annotation is taken off", async () => {
    const lab = await running(2, [NODE_CLASS, still(), INFLATE], REPAIR);
    const before = ids(lab);
    const [claim = ""] = names(lab, "NodeClaim");
    const annotate = (value: string) =>
      lab.world.store.patch("NodeClaim", claim, undefined, { user: "somebody" }, (object) => {
        object.metadata.annotations = { ...object.metadata.annotations, "karpenter.sh/do-not-repair": value };
        return object;
      });
    annotate("true");
    accuse(lab, { type: "KernelReady" });
    await pass(lab, 40 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(lab.world.events.map(({ message }) => message)).toContain(
      'repair is blocked through the "karpenter.sh/do-not-repair" annotation',
    );
    annotate("false");
    await pass(lab, 5 * MINUTE);
    expect(ids(lab)).not.toContain(before[0]);
    lab.close();
  });
});

describe("of ten nodes", () => {
  it("two that fail together are replaced one after the other, as the budget allows", async () => {
    const lab = await running(10, [NODE_CLASS, still({ budgets: [{ nodes: "1", reasons: ["Unhealthy"] }] }), APART], REPAIR);
    expect(ids(lab)).toHaveLength(10);
    for (const name of names(lab, "Node").slice(0, 2)) accuse(lab, { type: "StorageReady" }, name);
    let most = 0;
    for (let minute = 0; minute < 50; minute++) {
      await pass(lab, MINUTE);
      most = Math.max(most, lab.world.store.list("Node").filter(({ spec }) => isDisrupted(spec)).length);
    }
    expect(most).toBe(1);
    expect(runningPods(lab)).toBe(10);
    await expectAccountedFor(lab, 10);
    const labels = { condition: "storage_ready", termination_mode: "eventual" };
    expect(total(lab, "nodeclaims_unhealthy_disrupted_total", labels)).toBe(2);
    lab.close();
  });

  it("three that fail together stay, and an event says so on each and on the NodePool", async () => {
    const lab = await running(10, [NODE_CLASS, still(), APART], REPAIR);
    const before = ids(lab);
    for (const name of names(lab, "Node").slice(0, 3)) accuse(lab, { type: "NetworkingReady" }, name);
    await pass(lab, 45 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(reasons(lab).filter((reason) => reason === "NodeRepairBlocked").length).toBeGreaterThanOrEqual(7);
    lab.close();
  });
});

const isDisrupted = (spec: unknown): boolean =>
  ((spec as { readonly taints?: readonly { readonly key: string }[] }).taints ?? []).some(({ key }) => key === "karpenter.sh/disrupted");
