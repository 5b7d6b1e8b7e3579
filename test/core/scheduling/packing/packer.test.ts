import fc from "fast-check";
import { expect, it } from "vitest";
import { nodeCost } from "#core/offerings/node-cost.ts";
import { type NodeBatch, Packer, type PackingVariant } from "#core/scheduling/packing/packer.ts";
import { instanceType, nodePool, pods } from "#test/support/scheduling/builders.ts";
import { type PackingProblem, POOLS, packingProblemFor, packingScenarios } from "./packing-builders.ts";

const NODE_COST = nodeCost(undefined, {});

const PLAIN: PackingVariant = { hostRulesFirst: false, spreadBonus: 0 };
const variants = fc.constantFrom<PackingVariant>(
  PLAIN,
  { hostRulesFirst: true, spreadBonus: 0.1 },
  { hostRulesFirst: true, spreadBonus: 1 },
);

const packerFor = ({ demand, offeringGroups, shadowPrices, width }: PackingProblem): Packer =>
  new Packer(demand, offeringGroups, shadowPrices, width);
const allOf = ({ demand }: PackingProblem): Int32Array => Int32Array.from(demand.items, (item) => item.pods);

/** Number of pods of each item in the batches. */
function heldBy(batches: readonly NodeBatch[], items: number): Int32Array {
  const held = new Int32Array(items);
  for (const { contents, nodes } of batches) for (const [s, n] of contents) held[s] = (held[s] ?? 0) + n * nodes;
  return held;
}

function packed(
  parts: Parameters<typeof packingProblemFor>[0],
  variant = PLAIN,
): { readonly packing: PackingProblem; readonly batches: readonly NodeBatch[] } {
  const packing = packingProblemFor(parts);
  return { packing, batches: packerFor(packing).pack(allOf(packing), variant) };
}

it("the packer puts each pod on one node", () => {
  fc.assert(
    fc.property(packingScenarios, variants, (cluster, variant) => {
      const { packing, batches } = packed(cluster, variant);
      const held = heldBy(batches, packing.demand.items.length);
      // The pools of a kind have room for each of its pods, so none is left out.
      expect(held).toEqual(allOf(packing));
      for (const { contents, nodes } of batches) {
        expect(nodes).toBeGreaterThan(0);
        expect(contents.every(([, n]) => n > 0)).toBe(true);
        expect(new Set(contents.map(([s]) => s)).size).toBe(contents.length);
      }
    }),
    { numRuns: 60, seed: 1 },
  );
});

it("a batch's contents fit an option of its group at its price, and the group serves their kinds", () => {
  fc.assert(
    fc.property(packingScenarios, variants, (cluster, variant) => {
      const { packing, batches } = packed(cluster, variant);
      const { demand, offeringGroups, shadowPrices } = packing;
      for (const { offeringGroup, contents, price, loss } of batches) {
        const need = new Float64Array(packing.width);
        // A node of a pool is launched for kinds that have it among their heaviest pools.
        expect(
          contents.every(([s]) =>
            demand.kinds[demand.items[s]?.kind ?? -1]?.pools.some((pool) => pool === offeringGroups[offeringGroup]?.template),
          ),
        ).toBe(true);
        let value = 0;
        for (const [s, n] of contents) {
          const item = demand.items[s];
          expect(offeringGroups[offeringGroup]?.kinds).toContain(item?.kind);
          item?.vector.forEach((amount, r) => {
            need[r] = (need[r] ?? 0) + n * amount;
          });
          if (item !== undefined) value += n * shadowPrices.valueOfPod(item);
        }
        const samePrice =
          offeringGroups[offeringGroup]?.options.filter((option) => Math.abs(option.price + NODE_COST - price) < 1e-12) ?? [];
        expect(samePrice.some(({ room }) => need.every((amount, r) => amount <= (room[r] ?? 0)))).toBe(true);
        expect(loss).toBeCloseTo(price - value, 9);
      }
    }),
    { numRuns: 60, seed: 2 },
  );
});

it("a node's contents keep host rules in the order in which pods are put there", () => {
  fc.assert(
    fc.property(packingScenarios, variants, (cluster, variant) => {
      const { packing, batches } = packed(cluster, variant);
      for (const { contents } of batches) {
        const counts = new Map<number, number>();
        for (const [s, n] of contents) {
          const { rules = [], counting = [] } = packing.demand.items[s] ?? {};
          for (let i = 0; i < n; i++) {
            for (const { group, maxPresent } of rules) expect(counts.get(group) ?? 0).toBeLessThanOrEqual(maxPresent);
            for (const group of counting) counts.set(group, (counts.get(group) ?? 0) + 1);
          }
        }
      }
    }),
    { numRuns: 60, seed: 3 },
  );
});

it("pods with different custom labels share no node", () => {
  const red = pods(9, "red", {}, { nodeSelector: { team: "red" } });
  const blue = pods(9, "blue", {}, { nodeSelector: { team: "blue" } });
  const nodePools = [nodePool("any", { requirements: [{ key: "team", operator: "Exists" }] })];
  const { packing, batches } = packed({ nodePools, pods: [...red, ...blue, ...pods(9, "plain")] });
  const teamsOf = (s: number): readonly string[] => {
    const kind = packing.demand.kinds[packing.demand.items[s]?.kind ?? -1];
    return [...(kind?.sets[0]?.requirements.get("team")?.values ?? [])];
  };
  const wanted = batches.map(({ contents }) => new Set(contents.flatMap(([s]) => teamsOf(s))));
  expect(Math.max(...wanted.map(({ size }) => size))).toBe(1);
  expect(new Set(wanted.flatMap((set) => [...set])).size).toBe(2);
});

it("the packer gives the same batches for the same pods each time", () => {
  fc.assert(
    fc.property(packingScenarios, variants, (cluster, variant) => {
      const packing = packingProblemFor(cluster);
      const packer = packerFor(packing);
      const first = packer.pack(allOf(packing), variant);
      packer.pack(
        allOf(packing).map((n) => n >> 1),
        PLAIN,
      );
      expect(packer.pack(allOf(packing), variant)).toEqual(first);
      expect(packerFor(packingProblemFor(cluster)).pack(allOf(packing), variant)).toEqual(first);
    }),
    { numRuns: 30, seed: 4 },
  );
});

it("a pod that is too large for the options of the best value gets a node with room", () => {
  const types = [instanceType("m.small", 2, 8, { price: 0.04 }), instanceType("m.large", 4, 16, { price: 0.4 })];
  const { packing, batches } = packed({
    instanceTypes: types,
    pods: [...pods(5, "s", { cpu: "500m" }), ...pods(2, "l", { cpu: "2500m" })],
  });
  expect(heldBy(batches, packing.demand.items.length)).toEqual(allOf(packing));
});

it("a node is never overfilled, not even by a few millicores", () => {
  // 3,900m are left for pods.
  const { batches } = packed({ instanceTypes: [instanceType("m.one", 4, 16)], pods: pods(6, "p", { cpu: "1955m" }) });
  expect(batches.map(({ contents }) => contents.map(([, n]) => n))).toEqual([[1]]);
  expect(batches.map(({ nodes }) => nodes)).toEqual([6]);
});

it("pods that use mainly memory fill the gaps that pods of mainly cpu leave", () => {
  const types = [instanceType("m.one", 8, 32, { price: 0.4 })];
  const cpu = pods(6, "c", { cpu: "3", memory: "1Gi" });
  const memory = pods(6, "m", { cpu: "500m", memory: "12Gi" });
  const { batches } = packed({ instanceTypes: types, pods: [...cpu, ...memory] });
  expect(batches.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(3);
  expect(batches.every(({ contents }) => contents.length === 2)).toBe(true);
});

it("the packer gives no batches for no pods", () => {
  const packing = packingProblemFor({ pods: pods(4, "p"), nodePools: POOLS });
  expect(packerFor(packing).pack(new Int32Array(packing.demand.items.length), PLAIN)).toEqual([]);
});
