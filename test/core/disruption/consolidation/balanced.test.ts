import { expect, it } from "vitest";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { notWorthIt, scores } from "#core/disruption/consolidation/balanced.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import { NOW, nodePool, planned, pod, roomForAll, type Scene, simulated, snapshot } from "../builders.ts";

const balanced = nodePool("default", { consolidationPolicy: "Balanced" });

function view(scene: Scene) {
  return viewCluster({ snapshot: snapshot(scene), records: [], commands: [], now: NOW });
}

it("the score is the saved share of the pool's price over the disrupted share of the pool", () => {
  const v = view({
    pools: [balanced],
    machines: [
      { name: "a", type: "medium" },
      { name: "b", type: "huge" },
    ],
    pods: [pod("p", "a"), pod("q", "b"), pod("r", "b")],
  });
  const { all } = findCandidates(v);
  // a: 0.2 of 1.0 saved, 2 of 5 disrupted.
  expect(scores(v, all.slice(0, 1), 0.2)).toEqual([
    { nodePool: "default", score: expect.closeTo(0.5), savings: expect.closeTo(0.2), disruption: 0.4 },
  ]);
  expect(notWorthIt(v, all.slice(0, 1), 0.2)).toBeUndefined();
  expect(notWorthIt(v, all.slice(0, 1), 0.19)).toMatchObject({ reason: "NotWorthIt", nodePool: "default" });
});

it("a loss scores 0", () => {
  const v = view({ pools: [balanced], machines: [{ name: "a" }], pods: [pod("p", "a")] });
  expect(scores(v, findCandidates(v).all, -1)[0]?.score).toBe(0);
});

it("pools of other policies have no score", () => {
  const v = view({ machines: [{ name: "a" }], pods: [pod("p", "a")] });
  expect(scores(v, findCandidates(v).all, 0)).toEqual([]);
});

it("a Balanced pool keeps a node whose replacement saves too little, and states the score", () => {
  const scene = { pools: [balanced], machines: [{ name: "a" }], pods: [pod("p", "a")] };
  const input = { snapshot: snapshot(scene), records: [], commands: [], settings: { cluster: "c" }, now: NOW, newId: () => "id" };
  const almost = simulated(() => ({ newNodeClaims: [planned({ instanceTypes: ["pricey"] })] }));
  const types = [
    { name: "large", price: 0.4 },
    { name: "pricey", price: 0.3 },
  ];
  const withTypes = { ...input, snapshot: snapshot({ ...scene, types: types.map(({ name, price }) => ({ ...typeOf(name, price) })) }) };
  expect(planDisruption({ ...withTypes, simulate: almost, makeTrial: undefined }).blocked[0]?.message).toBe(
    'Balanced policy of NodePool "default" finds too little saved for what is disrupted (score 0.25 < threshold 0.50)',
  );
  const decided = planDisruption({ ...input, simulate: roomForAll, makeTrial: undefined });
  expect(decided.command?.method).toBe("single");
  expect(reportOf(decided).events.map(({ event }) => event.message)).toContain(
    "score 1.00 >= threshold 0.50 (k: 2, savings 100.0%, disruption 100.0%)",
  );
});

function typeOf(name: string, price: number) {
  return {
    name,
    requirements: [],
    capacity: {},
    overhead: {},
    offerings: [{ zone: "a", capacityType: "on-demand" as const, price, available: true }],
  };
}
