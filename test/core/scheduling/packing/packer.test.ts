import fc from "fast-check";
import { expect, it } from "vitest";
import { NODE_VOLUME_PRICE } from "../../../../core/model/prices.ts";
import { type NodeBatch, Packer, type PackingVariant } from "../../../../core/scheduling/packing/packer.ts";
import { instanceType, nodePool, pods } from "../../../support/scheduling/builders.ts";
import { type Market, marketFor, markets, POOLS } from "./offering-group-builders.ts";

const PLAIN: PackingVariant = { hostRulesFirst: false, spreadBonus: 0 };
const mixings = fc.constantFrom<PackingVariant>(
  PLAIN,
  { hostRulesFirst: true, spreadBonus: 0.1 },
  { hostRulesFirst: true, spreadBonus: 1 },
);

const packerFor = ({ demand, offeringGroups, shadowPrices, width }: Market): Packer =>
  new Packer(demand, offeringGroups, shadowPrices, width);
const allOf = ({ demand }: Market): Int32Array => Int32Array.from(demand.items, (item) => item.pods);

/** How many pods of each stock the batches hold. */
function heldBy(batches: readonly NodeBatch[], items: number): Int32Array {
  const held = new Int32Array(items);
  for (const { contents, nodes } of batches) for (const [s, n] of contents) held[s] = (held[s] ?? 0) + n * nodes;
  return held;
}

function mixed(
  parts: Parameters<typeof marketFor>[0],
  variant = PLAIN,
): { readonly market: Market; readonly batches: readonly NodeBatch[] } {
  const market = marketFor(parts);
  return { market, batches: packerFor(market).pack(allOf(market), variant) };
}

it("puts each pod on one machine", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, variant) => {
      const { market, batches } = mixed(cluster, variant);
      const held = heldBy(batches, market.demand.items.length);
      // A home is a pool that has a machine for the pod.
      expect(held).toEqual(allOf(market));
      for (const { contents, nodes } of batches) {
        expect(nodes).toBeGreaterThan(0);
        expect(contents.every(([, n]) => n > 0)).toBe(true);
        expect(new Set(contents.map(([s]) => s)).size).toBe(contents.length);
      }
    }),
    { numRuns: 60, seed: 1 },
  );
});

it("never gives out more room than a machine of the price has, to none that may not be there", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, variant) => {
      const { market, batches } = mixed(cluster, variant);
      const { demand, offeringGroups, shadowPrices } = market;
      for (const { offeringGroup, contents, price, loss } of batches) {
        const need = new Float64Array(market.width);
        // Machines of a pool are made for the sake of pods that are at home there.
        expect(contents.some(([s]) => demand.kinds[demand.items[s]?.kind ?? -1]?.home === offeringGroups[offeringGroup]?.template)).toBe(
          true,
        );
        let value = 0;
        for (const [s, n] of contents) {
          const item = demand.items[s];
          expect(offeringGroups[offeringGroup]?.kinds).toContain(item?.kind);
          item?.vector.forEach((amount, r) => {
            need[r] = (need[r] ?? 0) + n * amount;
          });
          if (item !== undefined) value += n * shadowPrices.valueOfPod(item);
        }
        const sold =
          offeringGroups[offeringGroup]?.options.filter((option) => Math.abs(option.price + NODE_VOLUME_PRICE - price) < 1e-12) ?? [];
        expect(sold.some(({ room }) => need.every((amount, r) => amount <= (room[r] ?? 0)))).toBe(true);
        expect(loss).toBeCloseTo(price - value, 9);
      }
    }),
    { numRuns: 60, seed: 2 },
  );
});

it("keeps rules about company on a host, in the order in which pods are put there", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, variant) => {
      const { market, batches } = mixed(cluster, variant);
      for (const { contents } of batches) {
        const counts = new Map<number, number>();
        for (const [s, n] of contents) {
          const { rules = [], counting = [] } = market.demand.items[s] ?? {};
          for (let i = 0; i < n; i++) {
            for (const { group, most } of rules) expect(counts.get(group) ?? 0).toBeLessThanOrEqual(most);
            for (const group of counting) counts.set(group, (counts.get(group) ?? 0) + 1);
          }
        }
      }
    }),
    { numRuns: 60, seed: 3 },
  );
});

it("does not mix pods that want different labels which machines do not bring", () => {
  const red = pods(9, "red", {}, { nodeSelector: { team: "red" } });
  const blue = pods(9, "blue", {}, { nodeSelector: { team: "blue" } });
  const nodePools = [nodePool("any", { requirements: [{ key: "team", operator: "Exists" }] })];
  const { market, batches } = mixed({ nodePools, pods: [...red, ...blue, ...pods(9, "plain")] });
  const customOf = (s: number): string => market.demand.kinds[market.demand.items[s]?.kind ?? -1]?.custom ?? "";
  const wanted = batches.map(({ contents }) => new Set(contents.map(([s]) => customOf(s)).filter((custom) => custom !== "")));
  expect(Math.max(...wanted.map(({ size }) => size))).toBe(1);
  expect(new Set(wanted.flatMap((set) => [...set])).size).toBe(2);
});

it("gives the same batches for the same pods, each time it is asked", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, variant) => {
      const market = marketFor(cluster);
      const packer = packerFor(market);
      const first = packer.pack(allOf(market), variant);
      packer.pack(
        allOf(market).map((n) => n >> 1),
        PLAIN,
      );
      expect(packer.pack(allOf(market), variant)).toEqual(first);
      expect(packerFor(marketFor(cluster)).pack(allOf(market), variant)).toEqual(first);
    }),
    { numRuns: 30, seed: 4 },
  );
});

it("finds the machine for a pod that is too large for those that give most for their price", () => {
  const types = [instanceType("m.small", 2, 8, { price: 0.04 }), instanceType("m.large", 4, 16, { price: 0.4 })];
  const { market, batches } = mixed({ instanceTypes: types, pods: [...pods(5, "s", { cpu: "500m" }), ...pods(2, "l", { cpu: "2500m" })] });
  expect(heldBy(batches, market.demand.items.length)).toEqual(allOf(market));
});

it("does not overfill machines by a little", () => {
  // 3,900m are left for pods.
  const { batches } = mixed({ instanceTypes: [instanceType("m.one", 4, 16)], pods: pods(6, "p", { cpu: "1955m" }) });
  expect(batches.map(({ contents }) => contents.map(([, n]) => n))).toEqual([[1]]);
  expect(batches.map(({ nodes }) => nodes)).toEqual([6]);
});

it("fills gaps that large pods leave with what leans the other way", () => {
  const types = [instanceType("m.one", 8, 32, { price: 0.4 })];
  const cpu = pods(6, "c", { cpu: "3", memory: "1Gi" });
  const memory = pods(6, "m", { cpu: "500m", memory: "12Gi" });
  const { batches } = mixed({ instanceTypes: types, pods: [...cpu, ...memory] });
  expect(batches.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(3);
  expect(batches.every(({ contents }) => contents.length === 2)).toBe(true);
});

it("makes up nothing for no pods, and for pods that are taken out", () => {
  const market = marketFor({ pods: pods(4, "p"), nodePools: POOLS });
  expect(packerFor(market).pack(new Int32Array(market.demand.items.length), PLAIN)).toEqual([]);
});
