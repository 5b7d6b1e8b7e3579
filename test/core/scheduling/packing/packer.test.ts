import fc from "fast-check";
import { expect, it } from "vitest";
import { type Batch, Mixer, type Mixing } from "../../../../core/scheduling/packing/packer.ts";
import { NODE_HOUR } from "../../../../core/scheduling/problem/strategy.ts";
import { instanceType, nodePool, pods } from "../../../support/scheduling/builders.ts";
import { type Market, marketFor, markets, POOLS } from "./offering-group-builders.ts";

const PLAIN: Mixing = { pickyFirst: false, premium: 0 };
const mixings = fc.constantFrom<Mixing>(PLAIN, { pickyFirst: true, premium: 0.1 }, { pickyFirst: true, premium: 1 });

const mixerFor = ({ supply, cells, worth, width }: Market): Mixer => new Mixer(supply, cells, worth, width);
const allOf = ({ supply }: Market): Int32Array => Int32Array.from(supply.stocks, (stock) => stock.pods);

/** How many pods of each stock the batches hold. */
function heldBy(batches: readonly Batch[], stocks: number): Int32Array {
  const held = new Int32Array(stocks);
  for (const { shares, machines } of batches) for (const [s, n] of shares) held[s] = (held[s] ?? 0) + n * machines;
  return held;
}

function mixed(parts: Parameters<typeof marketFor>[0], mixing = PLAIN): { readonly market: Market; readonly batches: readonly Batch[] } {
  const market = marketFor(parts);
  return { market, batches: mixerFor(market).mix(allOf(market), mixing) };
}

it("puts each pod on one machine", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, mixing) => {
      const { market, batches } = mixed(cluster, mixing);
      const held = heldBy(batches, market.supply.stocks.length);
      // A home is a pool that has a machine for the pod.
      expect(held).toEqual(allOf(market));
      for (const { shares, machines } of batches) {
        expect(machines).toBeGreaterThan(0);
        expect(shares.every(([, n]) => n > 0)).toBe(true);
        expect(new Set(shares.map(([s]) => s)).size).toBe(shares.length);
      }
    }),
    { numRuns: 60, seed: 1 },
  );
});

it("never gives out more room than a machine of the price has, to none that may not be there", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, mixing) => {
      const { market, batches } = mixed(cluster, mixing);
      const { supply, cells, worth } = market;
      for (const { cell, shares, price, loss } of batches) {
        const need = new Float64Array(market.width);
        // Machines of a pool are made for the sake of pods that are at home there.
        expect(shares.some(([s]) => supply.kinds[supply.stocks[s]?.kind ?? -1]?.home === cells[cell]?.template)).toBe(true);
        let value = 0;
        for (const [s, n] of shares) {
          const stock = supply.stocks[s];
          expect(cells[cell]?.kinds).toContain(stock?.kind);
          stock?.vector.forEach((amount, r) => {
            need[r] = (need[r] ?? 0) + n * amount;
          });
          if (stock !== undefined) value += n * worth.of(stock);
        }
        const sold = cells[cell]?.offers.filter((offer) => Math.abs(offer.price + NODE_HOUR - price) < 1e-12) ?? [];
        expect(sold.some(({ room }) => need.every((amount, r) => amount <= (room[r] ?? 0)))).toBe(true);
        expect(loss).toBeCloseTo(price - value, 9);
      }
    }),
    { numRuns: 60, seed: 2 },
  );
});

it("keeps rules about company on a host, in the order in which pods are put there", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, mixing) => {
      const { market, batches } = mixed(cluster, mixing);
      for (const { shares } of batches) {
        const counts = new Map<number, number>();
        for (const [s, n] of shares) {
          const { rules = [], counting = [] } = market.supply.stocks[s] ?? {};
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
  const customOf = (s: number): string => market.supply.kinds[market.supply.stocks[s]?.kind ?? -1]?.custom ?? "";
  const wanted = batches.map(({ shares }) => new Set(shares.map(([s]) => customOf(s)).filter((custom) => custom !== "")));
  expect(Math.max(...wanted.map(({ size }) => size))).toBe(1);
  expect(new Set(wanted.flatMap((set) => [...set])).size).toBe(2);
});

it("gives the same batches for the same pods, each time it is asked", () => {
  fc.assert(
    fc.property(markets, mixings, (cluster, mixing) => {
      const market = marketFor(cluster);
      const mixer = mixerFor(market);
      const first = mixer.mix(allOf(market), mixing);
      mixer.mix(
        allOf(market).map((n) => n >> 1),
        PLAIN,
      );
      expect(mixer.mix(allOf(market), mixing)).toEqual(first);
      expect(mixerFor(marketFor(cluster)).mix(allOf(market), mixing)).toEqual(first);
    }),
    { numRuns: 30, seed: 4 },
  );
});

it("finds the machine for a pod that is too large for those that give most for their price", () => {
  const types = [instanceType("m.small", 2, 8, { price: 0.04 }), instanceType("m.large", 4, 16, { price: 0.4 })];
  const { market, batches } = mixed({ instanceTypes: types, pods: [...pods(5, "s", { cpu: "500m" }), ...pods(2, "l", { cpu: "2500m" })] });
  expect(heldBy(batches, market.supply.stocks.length)).toEqual(allOf(market));
});

it("does not overfill machines by a little", () => {
  // 3,900m are left for pods.
  const { batches } = mixed({ instanceTypes: [instanceType("m.one", 4, 16)], pods: pods(6, "p", { cpu: "1955m" }) });
  expect(batches.map(({ shares }) => shares.map(([, n]) => n))).toEqual([[1]]);
  expect(batches.map(({ machines }) => machines)).toEqual([6]);
});

it("fills gaps that large pods leave with what leans the other way", () => {
  const types = [instanceType("m.one", 8, 32, { price: 0.4 })];
  const cpu = pods(6, "c", { cpu: "3", memory: "1Gi" });
  const memory = pods(6, "m", { cpu: "500m", memory: "12Gi" });
  const { batches } = mixed({ instanceTypes: types, pods: [...cpu, ...memory] });
  expect(batches.reduce((sum, { machines }) => sum + machines, 0)).toBe(3);
  expect(batches.every(({ shares }) => shares.length === 2)).toBe(true);
});

it("makes up nothing for no pods, and for pods that are taken out", () => {
  const market = marketFor({ pods: pods(4, "p"), nodePools: POOLS });
  expect(mixerFor(market).mix(new Int32Array(market.supply.stocks.length), PLAIN)).toEqual([]);
});
