import { afterEach, describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import { FAMILIES, NODE_CLASS, nodePool, SPOT } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, names, pass, records, running, runningPods, scale } from "../support/lab-story.ts";
import { AUTO_MODE, type OtherOwner, otherOwner, watched } from "../support/other-owner.ts";

let lab: Lab | undefined;
afterEach(() => lab?.close());

/** A lab with one node of ours and some of Auto Mode. */
async function beside(count: number): Promise<{ readonly lab: Lab; readonly auto: OtherOwner }> {
  const watch = watched();
  const ours = nodePool([SPOT, FAMILIES]);
  lab = await running(1, [NODE_CLASS, ours, INFLATE], { hooks: watch.hooks, settings: { nodeRepair: true, staticCapacity: true } });
  return { lab, auto: await otherOwner(AUTO_MODE, lab, watch, count) };
}

describe("EKS Auto Mode in the same cluster", () => {
  it("plays an hour of trouble, and nothing of it is written, ended, recorded or told of", async () => {
    const { lab: ours, auto } = await beside(9);
    const { world, cloud } = ours;
    const [expired, drifted, interrupted, leaving, silent, small, killed, forgotten, twin] = auto.machines;
    if (!expired || !drifted || !interrupted || !leaving || !silent || !small || !killed || !forgotten || !twin) throw new Error();
    world.store.create(
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: { name: "general-purpose-unlaunched", finalizers: ["karpenter.sh/termination"] },
        spec: { requirements: [], nodeClassRef: { group: "eks.amazonaws.com", kind: "NodeClass", name: "default" } },
      },
      { user: "auto" },
    );
    auto.own("NodeClaim", "general-purpose-unlaunched");
    const copy = world.store.get("Node", twin.node);
    const { uid: _, resourceVersion: __, ...metadata } = { ...copy?.metadata };
    world.store.create({ ...copy, metadata: { ...metadata, name: "twin" } } as never, { user: "auto" });
    auto.own("Node", "twin");
    auto.disrupt(expired, "Expired");
    auto.disrupt(drifted, "Drifted");
    auto.condition("Node", silent.node, "KernelReady", "False");
    cloud.impair(small.id);
    scale(ours, 20);
    await pass(ours, 10 * MINUTE);
    // An interruption: Auto Mode takes its time to react.
    cloud.interruptSpot(interrupted.id);
    cloud.recommendRebalance(drifted.id);
    cloud.scheduleRetirement(expired.id);
    scale(ours, 3);
    await pass(ours, 10 * MINUTE);
    world.store.delete("NodeClaim", leaving.claim, {}, { user: "admin" });
    world.store.delete("Node", leaving.node, {}, { user: "admin" });
    cloud.kill(killed.id);
    // The claim goes by force; its node and its instance are left.
    auto.change("NodeClaim", forgotten.claim, (o) => {
      o.metadata.finalizers = [];
    });
    world.store.delete("NodeClaim", forgotten.claim, {}, { user: "admin" });
    world.apply({ ...NODE_CLASS, spec: { ...(NODE_CLASS.spec as object), tags: { changed: "yes" } } });
    scale(ours, 12);
    await pass(ours, 20 * MINUTE);
    for (const { instance } of alive(ours)
      .filter((one) => !auto.machines.some(({ id }) => id === one.instance.id))
      .slice(0, 1))
      cloud.interruptSpot(instance.id);
    cloud.kill(forgotten.id);
    scale(ours, 1);
    await pass(ours, 20 * MINUTE);
    expect(await auto.touched()).toEqual([]);
    expect(auto.ourWrites()).toBeGreaterThan(100);
    expect(runningPods(ours)).toBe(1);
    // Their taints and reasons are still there.
    expect(JSON.stringify(world.store.get("Node", drifted.node))).toContain("karpenter.sh/disrupted");
    expect(JSON.stringify(world.store.get("NodeClaim", drifted.claim))).toContain("DisruptionReason");
  });

  it("has room on its nodes, for which no node is bought", async () => {
    const { lab: ours } = await beside(3);
    const before = names(ours, "Node").length;
    scale(ours, 3);
    await pass(ours, 3 * MINUTE);
    expect(runningPods(ours)).toBe(3);
    expect(names(ours, "Node").length).toBeLessThanOrEqual(before);
    expect(await records(ours)).toHaveLength(names(ours, "Node").length - 3);
  });
});
