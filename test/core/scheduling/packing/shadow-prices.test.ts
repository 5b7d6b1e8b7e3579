import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import { dot, ShadowPrices } from "#core/scheduling/packing/shadow-prices.ts";
import { solve } from "#core/scheduling/solve.ts";
import { instanceType, pods, snapshotOf } from "#test/support/scheduling/builders.ts";
import { type PackingProblem, packingProblemFor, packingScenarios } from "./packing-builders.ts";

const ROUNDING = 1e-9;

const totalValue = ({ demand, shadowPrices }: Pick<PackingProblem, "demand" | "shadowPrices">): number =>
  demand.items.reduce((sum, item) => sum + item.pods * shadowPrices.valueOfPod(item), 0);

describe("shadow prices", () => {
  it("no node's room has a higher value than the node costs, after any number of rounds", () => {
    fc.assert(
      fc.property(packingScenarios, fc.integer({ min: 0, max: 3 }), (cluster, rounds) => {
        const { offeringGroups, demand, width } = packingProblemFor(cluster);
        const shadowPrices = new ShadowPrices(offeringGroups, demand.items, demand.kinds.length, width, rounds);
        offeringGroups.forEach(({ options }, c) => {
          const values = shadowPrices.byGroup[c] ?? new Float64Array();
          expect(values.every((value) => value >= 0)).toBe(true);
          for (const { room, price } of options) expect(dot(values, room)).toBeLessThanOrEqual(price * (1 + ROUNDING));
        });
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it("the value of all pods is at most the price of a plan for them (weak duality)", () => {
    fc.assert(
      fc.property(packingScenarios, (cluster) => {
        const { demand, problem, width } = packingProblemFor(cluster);
        const plan = solve(snapshotOf(cluster));
        fc.pre(Object.keys(plan.podErrors).length === 0);
        const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
        // Pods may be on nodes of any pool, so the groups of all pools count.
        const shadowPrices = new ShadowPrices(
          offeringGroupsFor(demand.kinds, width, problem.templates).groups,
          demand.items,
          demand.kinds.length,
          width,
          3,
        );
        expect(totalValue({ demand, shadowPrices })).toBeLessThanOrEqual(price * (1 + ROUNDING));
      }),
      { numRuns: 60, seed: 2 },
    );
  });

  it("with one type and one scarce resource, the value of the pods is the price of the nodes", () => {
    const types = [instanceType("m.one", 4, 1000, { price: 0.39 })];
    const packing = packingProblemFor({ instanceTypes: types, pods: pods(40, "p", { cpu: "1", memory: "1Mi" }) });
    // 3.9 cpu are left for pods, at 40 % of 0.39 on spot.
    expect(totalValue(packing)).toBeCloseTo(40 * 0.04, 6);
  });

  it("pods of mainly cpu and pods of mainly memory share the price of the nodes that they fill together", () => {
    const types = [instanceType("m.one", 10, 10, { price: 1 })];
    const cpu = pods(30, "c", { cpu: "1", memory: "1Mi" });
    const both = packingProblemFor({ instanceTypes: types, pods: [...cpu, ...pods(30, "m", { cpu: "1m", memory: "1Gi" })] });
    const lone = packingProblemFor({ instanceTypes: types, pods: cpu });
    // Together they fill the nodes that either would need alone.
    expect(totalValue(both)).toBeLessThan(1.2 * totalValue(lone));
    expect(totalValue(both)).toBeGreaterThan(0.99 * totalValue(lone));
  });
});

it("pods that no offering group serves have the value 0", () => {
  const { demand, shadowPrices } = packingProblemFor({ pods: pods(2, "p") });
  expect(shadowPrices.valueOfPod({ kind: 7, vector: demand.items[0]?.vector ?? new Float64Array() })).toBe(0);
  expect(shadowPrices.cheapest(7, new Float64Array())).toBeUndefined();
  expect(shadowPrices.groupsServing(7)).toEqual([]);
});

it("pods without requests have a finite value above 0", () => {
  const { shadowPrices, demand, width } = packingProblemFor({ pods: pods(5, "p", {}) });
  expect([...shadowPrices.mean(demand.items, width)].every(Number.isFinite)).toBe(true);
  expect(shadowPrices.valueOfPod(demand.items[0] ?? { kind: 0, vector: new Float64Array() })).toBeGreaterThan(0);
});
