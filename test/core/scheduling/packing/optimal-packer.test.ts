import fc from "fast-check";
import { expect, it } from "vitest";
import type { Contents } from "#core/scheduling/packing/greedy-knapsack.ts";
import { OptimalPacker } from "#core/scheduling/packing/optimal-packer.ts";
import { type NodeBatch, Packer, priceOf } from "#core/scheduling/packing/packer.ts";
import { ruinAndRecreate, single, VARIANTS } from "#core/scheduling/packing/packing.ts";
import { repackParts } from "#core/scheduling/packing/repack-parts.ts";
import { instanceType, nodePool, planFor, pods, type Scenario } from "#test/support/scheduling/builders.ts";
import { HOST, onDemand, type PackingProblem, packingProblemFor, packingScenarios } from "./packing-builders.ts";

const optimalFor = ({ demand, offeringGroups, shadowPrices }: PackingProblem, maxSteps?: number): OptimalPacker =>
  new OptimalPacker(
    demand,
    offeringGroups,
    Float64Array.from(demand.items, (item) => shadowPrices.valueOfPod(item)),
    maxSteps,
  );
const allOf = ({ demand }: PackingProblem): Contents => demand.items.map((item, s) => [s, item.pods]);
/** A few pods of each item, so that they can be packed optimally. */
const fewOf = ({ demand }: PackingProblem): Contents => demand.items.slice(0, 5).map((item, s) => [s, Math.min(3, item.pods)]);
const packed = (packing: PackingProblem): readonly (readonly NodeBatch[])[] => {
  const packer = new Packer(packing.demand, packing.offeringGroups, packing.shadowPrices, packing.width);
  const few = new Int32Array(packing.demand.items.length);
  for (const [s, n] of fewOf(packing)) few[s] = n;
  return VARIANTS.map((variant) => ruinAndRecreate(packer.pack(few, variant).flatMap(single), packer, few.length));
};

/** Pods of one shape on types of which 4 pods fill the small one and 9 the large one. */
const onTwoSizes = (count: number, price: { readonly small: number; readonly large: number }): Partial<Scenario> => ({
  pods: pods(count, "a", { cpu: "900m" }),
  instanceTypes: [
    instanceType("m.small", 4, 16, { offerings: [onDemand("zone-a", price.small)] }),
    instanceType("m.large", 9, 36, { offerings: [onDemand("zone-a", price.large)] }),
  ],
});

it("an optimal packing of few pods has the fewest dollars that small and large nodes together allow", () => {
  const packing = packingProblemFor(onTwoSizes(17, { small: 0.2, large: 0.5 }));
  const nodes = optimalFor(packing).pack(allOf(packing)) ?? [];
  // 9 + 4 + 4 pods for 0.90; two large nodes, or five small ones, would cost 1.00.
  expect(nodes.map(({ contents }) => contents[0]?.[1]).sort()).toEqual([4, 4, 9]);
  expect(priceOf(nodes)).toBeCloseTo(0.9 + 3 * 0.020002, 9);
});

it("no packing by ruin and recreate is cheaper than the optimal one, which has each pod once, within room and host rules", () => {
  fc.assert(
    fc.property(packingScenarios, (cluster) => {
      const packing = packingProblemFor(cluster);
      const { demand, offeringGroups } = packing;
      const nodes = optimalFor(packing, Number.POSITIVE_INFINITY).pack(fewOf(packing)) ?? [];
      const held = new Map<number, number>();
      for (const { contents, offeringGroup, type, price } of nodes) {
        const need = new Float64Array(packing.width);
        const counts = new Map<number, number>();
        for (const [s, n] of contents) {
          const { vector, kind, rules, counting } = demand.items[s] as (typeof demand.items)[number];
          held.set(s, (held.get(s) ?? 0) + n);
          expect(offeringGroups[offeringGroup]?.kinds).toContain(kind);
          for (let pod = 0; pod < n; pod++) {
            for (const { group, maxPresent } of rules) expect(counts.get(group) ?? 0).toBeLessThanOrEqual(maxPresent);
            for (const group of counting) counts.set(group, (counts.get(group) ?? 0) + 1);
            vector.forEach((amount, r) => {
              need[r] = (need[r] ?? 0) + amount;
            });
          }
        }
        const fitting = (offeringGroups[offeringGroup]?.options ?? []).filter(
          (option) => option.type === type && need.every((amount, r) => amount <= (option.room[r] ?? 0)),
        );
        expect(fitting.map((option) => option.price + option.nodeCost)).toContainEqual(expect.closeTo(price, 9));
      }
      expect([...held].sort(([a], [b]) => a - b)).toEqual(fewOf(packing));
      for (const batches of packed(packing)) expect(priceOf(nodes)).toBeLessThanOrEqual(priceOf(batches) + 1e-9);
    }),
    { numRuns: 60, seed: 1 },
  );
});

it("pods with different custom labels share no node of an optimal packing", () => {
  const of = (team: string) => pods(2, team, { cpu: "1" }, { nodeSelector: { team } });
  const nodePools = [nodePool("any", { requirements: [{ key: "team", operator: "Exists" }] })];
  const packing = packingProblemFor({ nodePools, pods: [...of("red"), ...of("blue")] });
  const nodes = optimalFor(packing).pack(allOf(packing)) ?? [];
  expect(nodes.map(({ contents }) => contents)).toEqual(expect.arrayContaining([[[0, 2]], [[1, 2]]]));
});

it("an optimal packing is left out when the demand has too many states, or the packer no steps left", () => {
  const packing = packingProblemFor(onTwoSizes(17, { small: 0.2, large: 0.5 }));
  expect(optimalFor(packing).pack([[0, 5000]])).toBeUndefined();
  const spent = optimalFor(packing, 20);
  expect(spent.pack(allOf(packing))).toBeUndefined();
  expect(spent.isSpent).toBe(true);
});

it("nodes below the cost of another packing are the cheapest of all, and none when that packing is the cheapest", () => {
  fc.assert(
    fc.property(packingScenarios, (cluster) => {
      const packing = packingProblemFor(cluster);
      const optimal = priceOf(optimalFor(packing, Number.POSITIVE_INFINITY).pack(fewOf(packing)) ?? []);
      for (const batches of packed(packing)) {
        const below = priceOf(batches) - 1e-6;
        const nodes = optimalFor(packing, Number.POSITIVE_INFINITY).pack(fewOf(packing), below) ?? [];
        if (optimal <= below) expect(priceOf(nodes)).toBeCloseTo(optimal, 9);
        else expect(nodes).toEqual([]);
      }
    }),
    { numRuns: 40, seed: 3 },
  );
});

it("a plan is packed part by part: it never becomes more expensive, keeps its pods, and is the same each time", () => {
  fc.assert(
    fc.property(packingScenarios, (cluster) => {
      const packing = packingProblemFor(cluster);
      const before = packed(packing)[0] ?? [];
      const after = repackParts(before, optimalFor(packing));
      const podsOf = (nodes: readonly NodeBatch[]) => {
        const held = new Map<number, number>();
        for (const { contents } of nodes) for (const [s, n] of contents) held.set(s, (held.get(s) ?? 0) + n);
        return [...held].sort(([a], [b]) => a - b);
      };
      expect(podsOf(after)).toEqual(podsOf(before));
      expect(priceOf(after)).toBeLessThanOrEqual(priceOf(before));
      expect(repackParts(before, optimalFor(packing))).toEqual(after);
    }),
    { numRuns: 40, seed: 2 },
  );
});

it("pods that need a host each get larger nodes where other pods fill these at a lower price", () => {
  const labelSelector = { matchLabels: { app: "apart" } };
  const spec = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: HOST }] } },
  };
  const apart = pods(3, "apart", { cpu: "1500m" }, spec, { labels: { app: "apart" } });
  const types: readonly (readonly [string, number, number])[] = [
    ["m.small", 2, 0.1],
    ["m.medium", 8, 0.4],
    ["m.large", 16, 0.7],
  ];
  const instanceTypes = types.map(([name, cpu, price]) => instanceType(name, cpu, 4 * cpu, { offerings: [onDemand("zone-a", price)] }));
  const plan = planFor({ pods: [...apart, ...pods(9, "free", { cpu: "2" })], instanceTypes });
  // 1.5 + 7 × 2 cpu on the large node, and 1.5 + 2 × 2 on a medium one.
  expect(plan.newNodeClaims.map(({ pricePerHour, pods: placed }) => [pricePerHour, placed.length]).sort()).toEqual([
    [0.1, 1],
    [0.4, 3],
    [0.7, 8],
  ]);
});
