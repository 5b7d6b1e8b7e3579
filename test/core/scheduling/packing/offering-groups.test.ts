import fc from "fast-check";
import { expect, it } from "vitest";
import { has } from "../../../../core/requirements/requirement.ts";
import { offeringGroupsFor } from "../../../../core/scheduling/packing/offering-groups.ts";
import { hasBit } from "../../../../core/scheduling/tables/bitset.ts";
import { instanceType, nodePool, pod, pods } from "../../../support/scheduling/builders.ts";
import { type Market, marketFor, markets, onDemand, ZONE } from "./offering-group-builders.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";

/** What can be bought for a kind on nodes of its home, worked out from the catalogue alone: USD per hour by type, place and way to buy. */
function buyable({ demand, width }: Market, kind: number): { readonly type: number; readonly price: number }[] {
  const { home, sets, needs } = demand.kinds[kind] ?? {};
  const set = sets?.[home?.index ?? -1];
  if (home === undefined || set === undefined) return [];
  const admitted = home.table.admitted(set);
  return home.table.types.flatMap(({ offerings }, type) => {
    if (!hasBit(admitted, type) || !hasBit(home.types, type)) return [];
    if (needs?.some((r) => (home.room[type * width + r] ?? 0) <= 0)) return [];
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

it("offers each kind in cells only what it may buy, and the cheapest of what has room for its pods", () => {
  fc.assert(
    fc.property(markets, (cluster) => {
      const market = marketFor(cluster);
      const { demand, offeringGroups } = market;
      demand.kinds.forEach(({ home }, kind) => {
        const wanted = buyable(market, kind);
        const options = offeringGroups
          .filter(({ template, kinds }) => template === home && kinds.includes(kind))
          .flatMap((offeringGroup) => offeringGroup.options);
        for (const { type, price } of options) expect(wanted).toContainEqual({ type, price });
        for (const { vector, kind: own } of demand.items) {
          if (own !== kind) continue;
          const cheapest = (list: readonly { readonly type: number; readonly price: number }[]): number =>
            Math.min(
              ...list.flatMap(({ type, price }) =>
                vector.every((amount, r) => amount <= (home.room[type * market.width + r] ?? 0)) ? [price] : [],
              ),
            );
          expect(cheapest(options)).toBe(cheapest(wanted));
        }
      });
    }),
    { numRuns: 80, seed: 1 },
  );
});

it("tells cells apart by whom they serve, and lists offers that give more for more money", () => {
  fc.assert(
    fc.property(markets, (cluster) => {
      const { offeringGroups } = marketFor(cluster);
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

it("keeps each type's cheapest place where a cell has several", () => {
  const offerings = [0.3, 0.1, 0.2].map((price, i) => onDemand(`zone-${i}`, price));
  const { offeringGroups } = marketFor({ instanceTypes: [instanceType("m.one", 4, 16, { offerings })], pods: pods(3, "p") });
  expect(offeringGroups.map(({ options }) => options.map(({ price }) => price))).toEqual([[0.1]]);
});

it("serves pods that need a device only where there is one", () => {
  const gpu = instanceType("g.one", 4, 16, { price: 2, capacity: { "nvidia.com/gpu": "1" } });
  const plain = instanceType("m.one", 4, 16);
  const { offeringGroups, demand } = marketFor({
    instanceTypes: [gpu, plain],
    pods: [pod("g", { cpu: "1", "nvidia.com/gpu": "1" }), pod("p", { cpu: "1" })],
  });
  const kindWithNeed = demand.kinds.findIndex(({ needs }) => needs.length > 0);
  const serving = offeringGroups.filter(({ kinds }) => kinds.includes(kindWithNeed));
  expect(serving.flatMap(({ options, template }) => options.map(({ type }) => template.table.types[type]?.name))).toEqual(["g.one"]);
  expect(offeringGroups.some(({ kinds }) => !kinds.includes(kindWithNeed))).toBe(true);
});

it("looks at the pools that make nodes for the kinds, or at those that are named", () => {
  const nodePools = [nodePool("first", { weight: 2 }), nodePool("second")];
  const { offeringGroups, demand, width, problem } = marketFor({ nodePools, pods: pods(2, "p") });
  expect(new Set(offeringGroups.map(({ template }) => template.name))).toEqual(new Set(["first"]));
  expect(new Set(offeringGroupsFor(demand.kinds, width, problem.templates).map(({ template }) => template.name))).toEqual(
    new Set(["first", "second"]),
  );
});

it("leaves out what costs nothing, and what cannot be had", () => {
  const offerings = [onDemand("zone-a", 0), { ...onDemand("zone-b", 1), available: false }];
  const { offeringGroups } = marketFor({ instanceTypes: [instanceType("m.free", 4, 16, { offerings })], pods: pods(3, "p") });
  expect(offeringGroups.flatMap(({ options }) => options)).toEqual([]);
});

it("keeps what gives a little more for a little more, and drops what gives a little less for it", () => {
  const types = [
    instanceType("m.more", 10.5, 16, { price: 0.41 }),
    instanceType("m.one", 10, 16, { price: 0.4 }),
    instanceType("m.less", 9.5, 16, { price: 0.405 }),
  ];
  const { offeringGroups } = marketFor({ instanceTypes: types, pods: pods(3, "p") });
  expect(offeringGroups.map(({ options, template }) => options.map(({ type }) => template.table.types[type]?.name))).toEqual([
    ["m.one", "m.more"],
  ]);
});
