import { describe, expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import { type DisruptionPlan, planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { buffer, podTemplate } from "#test/support/buffers.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { NOW, nodePool, pod, type Scene, snapshot } from "../builders.ts";

/** One pass with a CapacityBuffer of so many virtual pods of 1 cpu; nodes have 4 cpu. */
function pass(scene: Scene, replicas: number, requests = { cpu: "1" }, commands: readonly CommandRecord[] = []): DisruptionPlan {
  const headroom = headroomOf([buffer({ podTemplateRef: { name: "room" }, replicas })], {
    podTemplates: [podTemplate(requests)],
    deployments: [],
    statefulSets: [],
    replicaSets: [],
  });
  return planDisruption({
    snapshot: { ...snapshot(scene), virtualPods: headroom.flatMap(({ pods }) => pods) },
    records: [],
    commands,
    settings: { cluster: "c" },
    now: NOW,
    ...WITH_SOLVE,
    newId: () => "id",
  });
}

const going = ({ command }: DisruptionPlan): readonly string[] => command?.candidates.map(({ node }) => node) ?? [];
const why = ({ blocked }: DisruptionPlan): readonly string[] => blocked.map(({ message }) => message);
const pods = (count: number, node: string) => Array.from({ length: count }, (_, i) => pod(`${node}-${i}`, node));

describe("the room of CapacityBuffers", () => {
  it("keeps a node without pods", () => {
    const plan = pass({ machines: [{ name: "a", type: "small", capacityType: "spot" }] }, 2);
    expect(going(plan)).toEqual([]);
  });

  it("is not kept when the buffer has no replicas", () => {
    expect(pass({ machines: [{ name: "a" }] }, 0).command).toMatchObject({ method: "emptiness", candidates: [{ node: "a" }] });
  });

  it("keeps as many nodes as it needs and no more", () => {
    expect(going(pass({ machines: [{ name: "a" }, { name: "b" }, { name: "c" }] }, 6))).toEqual(["c"]);
  });

  it("is the reason why a WhenEmpty pool keeps a node", () => {
    const plan = pass({ pools: [nodePool("default", { consolidationPolicy: "WhenEmpty" })], machines: [{ name: "a" }] }, 1);
    expect(going(plan)).toEqual([]);
    expect(why(plan)).toEqual(['Node "a" has buffer pods']);
    expect(reportOf(plan).events.map(({ event }) => event.reason)).toContain("Unconsolidatable");
  });

  it("blocks a removal that would leave too little room", () => {
    const machines = ["a", "b"].map((name) => ({ name, type: "small", capacityType: "spot" }));
    // 1 + 1 of 8 cpu are used: without buffers, one node would do.
    const scene = { machines, pods: [...pods(1, "a"), ...pods(1, "b")] };
    expect(going(pass(scene, 0))).toHaveLength(1);
    expect(going(pass(scene, 2))).toHaveLength(1);
    expect(going(pass(scene, 3))).toEqual([]);
  });

  it("is kept where no new node can provide it", () => {
    const pools = [nodePool("default", {}, { limits: { cpu: "0" } })];
    const scene = { pools, machines: [{ name: "a" }, { name: "b" }], pods: [...pods(1, "a"), ...pods(1, "b")] };
    expect(going(pass(scene, 2))).toHaveLength(1);
    expect(going(pass(scene, 3))).toEqual([]);
    expect(why(pass(scene, 3))[0]).toContain("default/capacity-buffer-spare-3");
  });

  it("moves to a cheaper node as a pod does", () => {
    const plan = pass({ machines: [{ name: "a", type: "huge" }] }, 4);
    expect(plan.command).toMatchObject({ decision: "replace", candidates: [{ node: "a", pods: [] }] });
    expect(plan.command?.replacements[0]?.pods).toHaveLength(4);
  });

  it("does not move to a node that is too small for it and for pods", () => {
    const plan = pass({ machines: [{ name: "a", type: "huge" }], pods: pods(2, "a") }, 2);
    expect(plan.command?.replacements[0]?.requests).toMatchObject({ cpu: "4" });
  });

  it("blocks nothing when the buffer never had room", () => {
    // No node is large enough: the buffer never had room, and an empty node gives it none.
    expect(going(pass({ machines: [{ name: "a" }] }, 1, { cpu: "64" }))).toEqual(["a"]);
  });

  it("does not block Drift when no node can provide it", () => {
    const drifted = { name: "a", drifted: "2026-01-01T11:00:00Z" };
    const pools = [nodePool("default", {}, { limits: { cpu: "0" } })];
    expect(pass({ pools, machines: [drifted] }, 1).command).toMatchObject({ method: "drift", decision: "delete" });
  });

  it("is reported as lacking when a new node can provide it", () => {
    const full = { machines: [{ name: "a", type: "small", capacityType: "spot" }], pods: pods(4, "a") };
    expect(pass(full, 1).lacksRoom).toBe(true);
    expect(pass(full, 0).lacksRoom).toBe(false);
    expect(pass(full, 1, { cpu: "64" }).lacksRoom).toBe(false);
    expect(pass({ ...full, pods: pods(3, "a") }, 1).lacksRoom).toBe(false);
  });
});
