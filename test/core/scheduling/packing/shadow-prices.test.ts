import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf } from "../../../../core/scheduling/packing/offering-groups.ts";
import { dot, Worth } from "../../../../core/scheduling/packing/shadow-prices.ts";
import { solve } from "../../../../core/scheduling/solve.ts";
import { instanceType, pods, snapshotOf } from "../../../support/scheduling/builders.ts";
import { type Market, marketFor, markets } from "./offering-group-builders.ts";

const ROUNDING = 1e-9;

const worthOfAll = ({ supply, worth }: Pick<Market, "supply" | "worth">): number =>
  supply.stocks.reduce((sum, stock) => sum + stock.pods * worth.of(stock), 0);

describe("the worth of room", () => {
  it("is never more than a machine costs, whatever the effort", () => {
    fc.assert(
      fc.property(markets, fc.integer({ min: 0, max: 3 }), (cluster, rounds) => {
        const { cells, supply, width } = marketFor(cluster);
        const worth = new Worth(cells, supply.stocks, supply.kinds.length, width, rounds);
        cells.forEach(({ offers }, c) => {
          const values = worth.room[c] ?? new Float64Array();
          expect(values.every((value) => value >= 0)).toBe(true);
          for (const { room, price } of offers) expect(dot(values, room)).toBeLessThanOrEqual(price * (1 + ROUNDING));
        });
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it("makes no pod worth more than any plan for all of them costs, from whatever pools its nodes are", () => {
    fc.assert(
      fc.property(markets, (cluster) => {
        const { supply, world, width } = marketFor(cluster);
        const plan = solve(snapshotOf(cluster));
        fc.pre(Object.keys(plan.podErrors).length === 0);
        const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
        // Pods may lie on nodes that were not made for their sake: those of all pools count.
        const worth = new Worth(cellsOf(supply.kinds, width, world.templates), supply.stocks, supply.kinds.length, width, 3);
        expect(worthOfAll({ supply, worth })).toBeLessThanOrEqual(price * (1 + ROUNDING));
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
  const { supply, worth } = marketFor({ pods: pods(2, "p") });
  expect(worth.of({ kind: 7, vector: supply.stocks[0]?.vector ?? new Float64Array() })).toBe(0);
  expect(worth.cheapest(7, new Float64Array())).toBeUndefined();
  expect(worth.cellsOf(7)).toEqual([]);
});

it("gives numbers where pods ask for nothing but a place", () => {
  const { worth, supply, width } = marketFor({ pods: pods(5, "p", {}) });
  expect([...worth.mean(supply.stocks, width)].every(Number.isFinite)).toBe(true);
  expect(worth.of(supply.stocks[0] ?? { kind: 0, vector: new Float64Array() })).toBeGreaterThan(0);
});
