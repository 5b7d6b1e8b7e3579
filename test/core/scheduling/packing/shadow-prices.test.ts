import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offeringGroupsFor } from "../../../../core/scheduling/packing/offering-groups.ts";
import { dot, ShadowPrices } from "../../../../core/scheduling/packing/shadow-prices.ts";
import { solve } from "../../../../core/scheduling/solve.ts";
import { instanceType, pods, snapshotOf } from "../../../support/scheduling/builders.ts";
import { type Market, marketFor, markets } from "./offering-group-builders.ts";

const ROUNDING = 1e-9;

const worthOfAll = ({ demand, shadowPrices }: Pick<Market, "demand" | "shadowPrices">): number =>
  demand.items.reduce((sum, item) => sum + item.pods * shadowPrices.valueOfPod(item), 0);

describe("the worth of room", () => {
  it("is never more than a machine costs, whatever the effort", () => {
    fc.assert(
      fc.property(markets, fc.integer({ min: 0, max: 3 }), (cluster, rounds) => {
        const { offeringGroups, demand, width } = marketFor(cluster);
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

  it("makes no pod worth more than any plan for all of them costs, from whatever pools its nodes are", () => {
    fc.assert(
      fc.property(markets, (cluster) => {
        const { demand, problem, width } = marketFor(cluster);
        const plan = solve(snapshotOf(cluster));
        fc.pre(Object.keys(plan.podErrors).length === 0);
        const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
        // Pods may lie on nodes that were not made for their sake: those of all pools count.
        const shadowPrices = new ShadowPrices(
          offeringGroupsFor(demand.kinds, width, problem.templates),
          demand.items,
          demand.kinds.length,
          width,
          3,
        );
        expect(worthOfAll({ demand, shadowPrices })).toBeLessThanOrEqual(price * (1 + ROUNDING));
      }),
      { numRuns: 60, seed: 2 },
    );
  });

  it("is what machines cost where one resource of one type decides", () => {
    const types = [instanceType("m.one", 4, 1000, { price: 0.39 })];
    const market = marketFor({ instanceTypes: types, pods: pods(40, "p", { cpu: "1", memory: "1Mi" }) });
    // 3.9 cpu are left for pods, at 40 % of 0.39 on spot.
    expect(worthOfAll(market)).toBeCloseTo(40 * 0.04, 6);
  });

  it("takes both resources into account where pods of one lie beside pods of the other", () => {
    const types = [instanceType("m.one", 10, 10, { price: 1 })];
    const cpu = pods(30, "c", { cpu: "1", memory: "1Mi" });
    const both = marketFor({ instanceTypes: types, pods: [...cpu, ...pods(30, "m", { cpu: "1m", memory: "1Gi" })] });
    const lone = marketFor({ instanceTypes: types, pods: cpu });
    // Together they fill the machines that either would need alone.
    expect(worthOfAll(both)).toBeLessThan(1.2 * worthOfAll(lone));
    expect(worthOfAll(both)).toBeGreaterThan(0.99 * worthOfAll(lone));
  });
});

it("is nothing for pods that no machine serves", () => {
  const { demand, shadowPrices } = marketFor({ pods: pods(2, "p") });
  expect(shadowPrices.valueOfPod({ kind: 7, vector: demand.items[0]?.vector ?? new Float64Array() })).toBe(0);
  expect(shadowPrices.cheapest(7, new Float64Array())).toBeUndefined();
  expect(shadowPrices.groupsServing(7)).toEqual([]);
});

it("gives numbers where pods ask for nothing but a place", () => {
  const { shadowPrices, demand, width } = marketFor({ pods: pods(5, "p", {}) });
  expect([...shadowPrices.mean(demand.items, width)].every(Number.isFinite)).toBe(true);
  expect(shadowPrices.valueOfPod(demand.items[0] ?? { kind: 0, vector: new Float64Array() })).toBeGreaterThan(0);
});
