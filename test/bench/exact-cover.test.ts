import { expect, it } from "vitest";
import { bestAttempt, planCost } from "#core/scheduling/search.ts";
import { optimaToProve } from "../support/effort.ts";
import { instanceType, pods, snapshotOf, ZONES } from "../support/scheduling/builders.ts";
import { exactCover } from "./exact-cover.ts";
import { lowerBounds, problemOf } from "./lower-bound.ts";
import { optimumCase } from "./optimum-cases.ts";

const spread = (app: string) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "topology.kubernetes.io/zone",
      whenUnsatisfiable: "DoNotSchedule" as const,
      labelSelector: { matchLabels: { app } },
    },
  ],
});
const apart = (app: string) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { app } }, topologyKey: "kubernetes.io/hostname" }],
    },
  },
});
/** A node counts $0.02 and the tie price beside its instance. */
const NODE = 0.020002;
const offer = (price: number) => ZONES.map((zone) => ({ zone, capacityType: "on-demand" as const, price, available: true }));
const SMALL = instanceType("m.small", 2, 8, { offerings: offer(0.1) });
const LARGE = instanceType("m.large", 8, 32, { offerings: offer(0.3) });

it("the exact optimum puts 7 pods of one cpu on the one large node that holds them", async () => {
  const problem = problemOf(snapshotOf({ pods: pods(7, "a", { cpu: "1" }), instanceTypes: [SMALL, LARGE] }));
  const { cost, isProven, nodes } = await exactCover(problem, 1);
  expect({ cost, isProven }).toEqual({ cost: expect.closeTo(0.3 + NODE, 9), isProven: true });
  expect(nodes).toEqual([{ count: 1, type: "m.large", pods: { 0: 7 }, cost: expect.closeTo(0.3 + NODE, 9) }]);
});

it("the exact optimum of pods that may not share a host has a node for each of them", async () => {
  const pending = pods(3, "a", { cpu: "1" }, apart("a"), { labels: { app: "a" } });
  const problem = problemOf(snapshotOf({ pods: pending, instanceTypes: [SMALL, LARGE] }));
  expect((await exactCover(problem, 1)).cost).toBeCloseTo(3 * (0.1 + NODE), 9);
});

it("the exact optimum of a hard spread has nodes in each zone, and the pod too many where that is cheapest", async () => {
  const pending = pods(7, "a", { cpu: "1" }, spread("a"), { labels: { app: "a" } });
  const problem = problemOf(snapshotOf({ pods: pending, instanceTypes: [SMALL, LARGE] }));
  const { cost, nodes } = await exactCover(problem, 10);
  // 2 or 3 pods a zone: a small node holds one, so three of them cost as much as the large one, which is one node less.
  expect(cost).toBeCloseTo(2 * 2 * (0.1 + NODE) + (0.3 + NODE), 9);
  expect(Object.values(Object.assign({}, ...nodes.map((node) => node.pods))).length).toBe(ZONES.length);
});

it("no plan costs less than the exact optimum, which lies above the bounds of both linear programs", async () => {
  for (const seed of optimaToProve([3, 7, 19])) {
    const snapshot = optimumCase(seed);
    const problem = problemOf(snapshot);
    const cost = planCost(bestAttempt(problem, "full"));
    const exact = await exactCover(problem, cost);
    expect(exact.isProven).toBe(true);
    expect(exact.cost).toBeLessThanOrEqual(cost * (1 + 1e-9));
    expect(exact.configurationBound).toBeLessThanOrEqual(exact.cost * (1 + 1e-9));
    const { spread: fluid } = await lowerBounds(snapshot, ({ price, nodeCost }) => price + nodeCost);
    expect(fluid).toBeLessThanOrEqual(exact.configurationBound * (1 + 1e-6));
  }
});

it("the search finds the optimum of small cases in which a few large nodes hold what several attempts spread", async () => {
  for (const seed of optimaToProve([11, 19, 34])) {
    const problem = problemOf(optimumCase(seed));
    const cost = planCost(bestAttempt(problem, "full"));
    expect(cost).toBeCloseTo((await exactCover(problem, cost)).cost, 6);
  }
});
