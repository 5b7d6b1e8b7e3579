import { describe, expect, it } from "vitest";
import { headroomOf } from "../../../../core/capacity-buffers/headroom.ts";
import { simulateWithSolve } from "../../../../core/disruption/consolidation/simulate.ts";
import { type DisruptionPlan, planDisruption } from "../../../../core/disruption/plan.ts";
import { reportOf } from "../../../../core/disruption/reports/report-of.ts";
import type { CommandRecord } from "../../../../core/model/command-record.ts";
import { buffer, podTemplate } from "../../../support/buffers.ts";
import { NOW, nodePool, pod, type Scene, snapshot } from "../builders.ts";

/** One pass over a scene in which room is wanted for so many pods of 1 cpu (machines have 4). */
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
    simulate: simulateWithSolve,
    newId: () => "id",
  });
}

const going = ({ command }: DisruptionPlan): readonly string[] => command?.candidates.map(({ node }) => node) ?? [];
const why = ({ blocked }: DisruptionPlan): readonly string[] => blocked.map(({ message }) => message);
const pods = (count: number, node: string) => Array.from({ length: count }, (_, i) => pod(`${node}-${i}`, node));

describe("room that buffers want", () => {
  it("keeps a node that nothing else runs on", () => {
    const plan = pass({ machines: [{ name: "a", type: "small", capacityType: "spot" }] }, 2);
    expect(going(plan)).toEqual([]);
  });

  it("is no longer kept when the buffer wants none", () => {
    expect(pass({ machines: [{ name: "a" }] }, 0).command).toMatchObject({ method: "emptiness", candidates: [{ node: "a" }] });
  });

  it("keeps as many nodes as it takes and no more", () => {
    expect(going(pass({ machines: [{ name: "a" }, { name: "b" }, { name: "c" }] }, 6))).toEqual(["c"]);
  });

  it("is said to hold a node of a pool that takes empty ones away", () => {
    const plan = pass({ pools: [nodePool("default", { consolidationPolicy: "WhenEmpty" })], machines: [{ name: "a" }] }, 1);
    expect(going(plan)).toEqual([]);
    expect(why(plan)).toEqual(['Node "a" has buffer pods']);
    expect(reportOf(plan).events.map(({ event }) => event.reason)).toContain("Unconsolidatable");
  });

  it("stands in the way of a removal that would leave too little of it", () => {
    const machines = ["a", "b"].map((name) => ({ name, type: "small", capacityType: "spot" }));
    // 1 + 1 of 8 cpu are used: without buffers, one node would do.
    const scene = { machines, pods: [...pods(1, "a"), ...pods(1, "b")] };
    expect(going(pass(scene, 0))).toHaveLength(1);
    expect(going(pass(scene, 2))).toHaveLength(1);
    expect(going(pass(scene, 3))).toEqual([]);
  });

  it("is not given up where none can be bought in its place", () => {
    const pools = [nodePool("default", {}, { limits: { cpu: "0" } })];
    const scene = { pools, machines: [{ name: "a" }, { name: "b" }], pods: [...pods(1, "a"), ...pods(1, "b")] };
    expect(going(pass(scene, 2))).toHaveLength(1);
    expect(going(pass(scene, 3))).toEqual([]);
    expect(why(pass(scene, 3))[0]).toContain("default/capacity-buffer-spare-3");
  });

  it("moves to a cheaper node like a pod", () => {
    const plan = pass({ machines: [{ name: "a", type: "huge" }] }, 4);
    expect(plan.command).toMatchObject({ decision: "replace", candidates: [{ node: "a", pods: [] }] });
    expect(plan.command?.replacements[0]?.pods).toHaveLength(4);
  });

  it("may not move to a node that is too small for it and for pods", () => {
    const plan = pass({ machines: [{ name: "a", type: "huge" }], pods: pods(2, "a") }, 2);
    expect(plan.command?.replacements[0]?.requests).toMatchObject({ cpu: "4" });
  });

  it("holds nothing back where there is none to lose", () => {
    // No machine is large enough: the buffer never had a place, and an empty node is of no use to it.
    expect(going(pass({ machines: [{ name: "a" }] }, 1, { cpu: "64" }))).toEqual(["a"]);
  });

  it("gives way to drift when nothing else can be done", () => {
    const drifted = { name: "a", drifted: "2026-01-01T11:00:00Z" };
    const pools = [nodePool("default", {}, { limits: { cpu: "0" } })];
    expect(pass({ pools, machines: [drifted] }, 1).command).toMatchObject({ method: "drift", decision: "delete" });
  });

  it("is asked for when it is missing and can be bought", () => {
    const full = { machines: [{ name: "a", type: "small", capacityType: "spot" }], pods: pods(4, "a") };
    expect(pass(full, 1).lacksRoom).toBe(true);
    expect(pass(full, 0).lacksRoom).toBe(false);
    expect(pass(full, 1, { cpu: "64" }).lacksRoom).toBe(false);
    expect(pass({ ...full, pods: pods(3, "a") }, 1).lacksRoom).toBe(false);
  });
});
