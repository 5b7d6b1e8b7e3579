import fc from "fast-check";
import { expect, it } from "vitest";
import { has } from "#core/requirements/requirement.ts";
import { offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import { hasBit } from "#core/scheduling/tables/bitset.ts";
import { instanceType, nodePool, pod, pods } from "#test/support/scheduling/builders.ts";
import { onDemand, type PackingProblem, packingProblemFor, packingScenarios, ZONE } from "./packing-builders.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";

/** Offerings that a kind may use in its only pool, derived from the catalogue alone; prices in USD per hour. */
function usableOfferings({ demand, width }: PackingProblem, kind: number): { readonly type: number; readonly price: number }[] {
  const { pools: [pool] = [], sets, needs } = demand.kinds[kind] ?? {};
  const set = sets?.[pool?.index ?? -1];
  if (pool === undefined || set === undefined) return [];
  const admitted = pool.table.admitted(set);
  return pool.table.types.flatMap(({ offerings }, type) => {
    if (!hasBit(admitted, type) || !hasBit(pool.types, type)) return [];
    if (needs?.some((r) => (pool.room[type * width + r] ?? 0) <= 0)) return [];
    return offerings.flatMap(({ zone, capacityType, price, available }) => {
      const isAllowed = [
        [ZONE, zone],
        [CAPACITY_TYPE, capacityType],
      ].every(([key = "", value = ""]) => {
        const item = set.requirements.get(key);
        return item === undefined || has(item, value);
      });
      return available && isAllowed ? [{ type, price }] : [];
    });
  });
}

it("the groups of a kind have only options that it may use, and the cheapest one with room for each of its pods", () => {
  fc.assert(
    fc.property(packingScenarios, (cluster) => {
      const packing = packingProblemFor(cluster);
      const { demand, offeringGroups } = packing;
      demand.kinds.forEach(({ pools: [pool] }, kind) => {
        const wanted = usableOfferings(packing, kind);
        const options = offeringGroups
          .filter(({ template, kinds }) => template === pool && kinds.includes(kind))
          .flatMap((offeringGroup) => offeringGroup.options);
        for (const { type, price } of options) expect(wanted).toContainEqual({ type, price });
        for (const { vector, kind: own } of demand.items) {
          if (own !== kind) continue;
          const cheapest = (list: readonly { readonly type: number; readonly price: number }[]): number =>
            Math.min(
              ...list.flatMap(({ type, price }) =>
                vector.every((amount, r) => amount <= (pool?.room[type * packing.width + r] ?? 0)) ? [price] : [],
              ),
            );
          expect(cheapest(options)).toBe(cheapest(wanted));
        }
      });
    }),
    { numRuns: 80, seed: 1 },
  );
});

it("groups differ by pool or kinds, and a more expensive option has more of some resource", () => {
  fc.assert(
    fc.property(packingScenarios, (cluster) => {
      const { offeringGroups } = packingProblemFor(cluster);
      expect(new Set(offeringGroups.map(({ template, kinds }) => `${template.index}:${kinds.join()}`)).size).toBe(offeringGroups.length);
      for (const { options } of offeringGroups) {
        expect(options.map(({ price }) => price)).toEqual(options.map(({ price }) => price).sort((a, b) => a - b));
        for (const [i, { room }] of options.entries()) {
          const cheaper = options.slice(0, i);
          expect(cheaper.filter((other) => room.every((amount, r) => amount <= (other.room[r] ?? 0)))).toEqual([]);
        }
      }
    }),
    { numRuns: 40, seed: 2 },
  );
});

it("a group keeps the cheapest offering of each instance type", () => {
  const offerings = [0.3, 0.1, 0.2].map((price, i) => onDemand(`zone-${i}`, price));
  const { offeringGroups } = packingProblemFor({ instanceTypes: [instanceType("m.one", 4, 16, { offerings })], pods: pods(3, "p") });
  expect(offeringGroups.map(({ options }) => options.map(({ price }) => price))).toEqual([[0.1]]);
});

it("pods that need a GPU are served only by groups of types with one", () => {
  const gpu = instanceType("g.one", 4, 16, { price: 2, capacity: { "nvidia.com/gpu": "1" } });
  const plain = instanceType("m.one", 4, 16);
  const { offeringGroups, demand } = packingProblemFor({
    instanceTypes: [gpu, plain],
    pods: [pod("g", { cpu: "1", "nvidia.com/gpu": "1" }), pod("p", { cpu: "1" })],
  });
  const kindWithNeed = demand.kinds.findIndex(({ needs }) => needs.length > 0);
  const serving = offeringGroups.filter(({ kinds }) => kinds.includes(kindWithNeed));
  expect(serving.flatMap(({ options, template }) => options.map(({ type }) => template.table.types[type]?.name))).toEqual(["g.one"]);
  expect(offeringGroups.some(({ kinds }) => !kinds.includes(kindWithNeed))).toBe(true);
});

it("groups are made for the heaviest pools of the kinds, or for those of them that are named", () => {
  const nodePools = [nodePool("heavy-a", { weight: 2 }), nodePool("heavy-b", { weight: 2 }), nodePool("light")];
  const { offeringGroups, demand, width, problem } = packingProblemFor({ nodePools, pods: pods(2, "p") });
  expect(new Set(offeringGroups.map(({ template }) => template.name))).toEqual(new Set(["heavy-a", "heavy-b"]));
  const named = problem.templates.filter(({ name }) => name !== "heavy-a");
  expect(new Set(offeringGroupsFor(demand.kinds, width, named).groups.map(({ template }) => template.name))).toEqual(new Set(["heavy-b"]));
});

it("free and unavailable offerings are left out", () => {
  const offerings = [onDemand("zone-a", 0), { ...onDemand("zone-b", 1), available: false }];
  const { offeringGroups } = packingProblemFor({ instanceTypes: [instanceType("m.free", 4, 16, { offerings })], pods: pods(3, "p") });
  expect(offeringGroups.flatMap(({ options }) => options)).toEqual([]);
});

it("a group keeps an option with a little more room for a little more money, and drops one with less room for more", () => {
  const types = [
    instanceType("m.more", 10.5, 16, { price: 0.41 }),
    instanceType("m.one", 10, 16, { price: 0.4 }),
    instanceType("m.less", 9.5, 16, { price: 0.405 }),
  ];
  const { offeringGroups } = packingProblemFor({ instanceTypes: types, pods: pods(3, "p") });
  expect(offeringGroups.map(({ options, template }) => options.map(({ type }) => template.table.types[type]?.name))).toEqual([
    ["m.one", "m.more"],
  ]);
});
