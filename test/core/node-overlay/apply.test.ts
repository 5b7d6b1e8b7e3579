import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeOverlay, NodeOverlaySpec } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { applyOverlays } from "#core/node-overlay/apply.ts";
import { explainVerdict } from "#core/node-overlay/verdict.ts";
import { instanceType, nodePool } from "../../support/scheduling/builders.ts";
import { nodeOverlay, only } from "./builders.ts";

const FAMILY = "karpenter.k8s.aws/instance-family";
const TYPE = "node.kubernetes.io/instance-type";
const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const CPU = "karpenter.k8s.aws/instance-cpu";

/** $1 per hour on demand, $0.40 as spot, in three zones. */
const m = instanceType("m.large", 2, 8, { price: 1 });
const c = instanceType("c.large", 4, 8, { price: 1 });
const TYPES = [m, c];

function apply(overlays: readonly NodeOverlay[], pools: readonly NodePool[] = [nodePool()], types: readonly InstanceType[] = TYPES) {
  const { instanceTypes, verdicts } = applyOverlays(overlays, pools, new Map(pools.map(({ metadata }) => [metadata.name, types])));
  const offering = (pool: string, type: string, capacityType: string, zone: string) =>
    instanceTypes
      .get(pool)
      ?.find(({ name }) => name === type)
      ?.offerings.find((o) => o.capacityType === capacityType && o.zone === zone);
  return {
    instanceTypes,
    verdicts,
    price: (type: string, capacityType = "on-demand", zone = "zone-a", pool = "default") => offering(pool, type, capacityType, zone)?.price,
    capacity: (type: string, pool = "default") => instanceTypes.get(pool)?.find(({ name }) => name === type)?.capacity,
    said: (name: string) => {
      const verdict = verdicts.get(name);
      return verdict && `${verdict.outcome}: ${explainVerdict(verdict)}`;
    },
  };
}

const pricing = (name: string, spec: Partial<NodeOverlaySpec> = {}) => nodeOverlay(name, { price: "5", ...spec });

describe("the selection of an overlay", () => {
  it.for<{ name: string; requirements: NodeOverlaySpec["requirements"]; pool?: NodePool; types: string[] }>([
    { name: "no requirements", requirements: [], types: ["c.large", "m.large"] },
    { name: "a family", requirements: [only(FAMILY, "m")], types: ["m.large"] },
    { name: "all but a family", requirements: [{ key: FAMILY, operator: "NotIn", values: ["m"] }], types: ["c.large"] },
    { name: "an order", requirements: [{ key: CPU, operator: "Gte", values: ["4"] }], types: ["c.large"] },
    { name: "an alias key", requirements: [only("beta.kubernetes.io/instance-type", "c.large")], types: ["c.large"] },
    { name: "a pool by name", requirements: [only("karpenter.sh/nodepool", "default")], types: ["c.large", "m.large"] },
    { name: "another pool", requirements: [only("karpenter.sh/nodepool", "other")], types: [] },
    {
      name: "a label of the pool",
      requirements: [only("team", "a")],
      pool: nodePool("default", { labels: { team: "a" } }),
      types: ["c.large", "m.large"],
    },
    { name: "a label that the pool lacks", requirements: [only("team", "a")], types: [] },
    { name: "an absent label", requirements: [{ key: "team", operator: "DoesNotExist" }], types: ["c.large", "m.large"] },
    {
      name: "a label that the NodePool requires and does not set",
      requirements: [only("team", "a")],
      pool: nodePool("default", { requirements: [only("team", "a")] }),
      types: [],
    },
    {
      name: "a family against the pool's own label",
      requirements: [only(FAMILY, "m")],
      pool: nodePool("default", { labels: { [FAMILY]: "c" } }),
      types: [],
    },
    { name: "a zone that no offering is in", requirements: [only(ZONE, "zone-z")], types: [] },
  ])("an overlay selects by $name", ({ requirements, pool = nodePool(), types }) => {
    expect(apply([pricing("x", { requirements })], [pool]).verdicts.get("x")).toEqual({ outcome: "Applied", instanceTypes: types });
  });

  it("an overlay changes only the offerings that it selects", () => {
    const { price } = apply([pricing("x", { requirements: [only(ZONE, "zone-b"), only(CAPACITY_TYPE, "spot")] })]);
    expect(price("m.large", "spot", "zone-b")).toBe(5);
    expect(price("m.large", "spot", "zone-a")).toBeCloseTo(0.4);
    expect(price("m.large", "on-demand", "zone-b")).toBe(1);
  });

  it("an overlay distinguishes capacity reservations from each other and from other offerings", () => {
    const RESERVATION = "karpenter.k8s.aws/capacity-reservation-id";
    const at = { zone: "zone-a", price: 1, available: true };
    const offerings = [
      { ...at, capacityType: "on-demand" as const },
      { ...at, capacityType: "reserved" as const, reservationId: "cr-1" },
      { ...at, capacityType: "reserved" as const, reservationId: "cr-2" },
    ];
    const requirements = [...m.requirements, only(RESERVATION, "cr-1", "cr-2")];
    const pricesWith = (requirement: NodeOverlaySpec["requirements"][number]) =>
      apply([pricing("x", { requirements: [requirement] })], [nodePool()], [{ ...m, requirements, offerings }])
        .instanceTypes.get("default")?.[0]
        ?.offerings.map(({ price }) => price);
    expect(pricesWith(only(RESERVATION, "cr-2"))).toEqual([1, 1, 5]);
    expect(pricesWith({ key: RESERVATION, operator: "NotIn", values: ["cr-2"] })).toEqual([5, 5, 1]);
  });

  it("an overlay that selects nothing says so", () => {
    expect(apply([pricing("x", { requirements: [only(FAMILY, "z")] })]).said("x")).toBe(
      "Applied: no instance type of any NodePool meets spec.requirements",
    );
  });
});

describe("several overlays", () => {
  it("the overlay with the greater weight decides a price, the other one the rest", () => {
    const { price } = apply([
      pricing("broad", { price: "3", weight: 1 }),
      pricing("narrow", { price: "2", weight: 10, requirements: [only(FAMILY, "m")] }),
    ]);
    expect([price("m.large"), price("c.large")]).toEqual([2, 3]);
  });

  it("an adjustment applies to the cloud's price, not to another overlay's", () => {
    const { price } = apply([pricing("low", { price: "100" }), nodeOverlay("high", { priceAdjustment: "+10%", weight: 2 })]);
    expect(price("m.large")).toBeCloseTo(1.1);
  });

  it("each resource is decided separately, and the type's own resources stay", () => {
    const { capacity } = apply([
      nodeOverlay("low", { capacity: { "a.b/x": "1", "a.b/y": "1" }, weight: 1 }),
      nodeOverlay("high", { capacity: { "a.b/x": "2" }, weight: 2 }),
    ]);
    expect(capacity("m.large")).toEqual({ ...m.capacity, "a.b/x": "2", "a.b/y": "1" });
  });

  it("a capacity applies to the whole type although one offering is selected", () => {
    const { capacity } = apply([nodeOverlay("x", { capacity: { "a.b/x": "1" }, requirements: [only(ZONE, "zone-b")] })]);
    expect(capacity("m.large")?.["a.b/x"]).toBe("1");
  });

  it("of two overlays of equal weight the later name is applied; the other one names the conflict", () => {
    const { price, said } = apply([
      pricing("a", { price: "2", weight: 7 }),
      pricing("b", { price: "3", weight: 7, requirements: [only(FAMILY, "m"), only(CAPACITY_TYPE, "spot")] }),
    ]);
    expect(said("a")).toBe(
      "Conflict: NodeOverlay b of the same weight (7) already sets the price of m.large (spot, zone-a) in NodePool default; give one of the two another weight",
    );
    expect(said("b")).toBe("Applied: ");
    expect([price("m.large", "spot"), price("m.large"), price("c.large")]).toEqual([3, 1, 1]);
  });

  it.for<{ name: string; a: Partial<NodeOverlaySpec>; b: Partial<NodeOverlaySpec>; conflict: boolean }>([
    {
      name: "prices of different types",
      a: { requirements: [only(FAMILY, "m")] },
      b: { requirements: [only(FAMILY, "c")] },
      conflict: false,
    },
    {
      name: "prices of different zones",
      a: { requirements: [only(ZONE, "zone-a")] },
      b: { requirements: [only(ZONE, "zone-b")] },
      conflict: false,
    },
    { name: "no weights", a: {}, b: {}, conflict: true },
    { name: "a weight of 1 and no weight", a: { weight: 1 }, b: {}, conflict: false },
  ])("two overlays with $name", ({ a, b, conflict }) => {
    expect(apply([pricing("a", a), pricing("b", b)]).verdicts.get("a")?.outcome).toBe(conflict ? "Conflict" : "Applied");
  });

  it.for([
    { name: "one resource twice", a: { "a.b/x": "1" }, b: { "a.b/x": "1" }, conflict: true },
    { name: "different resources", a: { "a.b/x": "1" }, b: { "a.b/y": "1" }, conflict: false },
  ])("$name in overlays of equal weight", ({ a, b, conflict }) => {
    const { verdicts } = apply([nodeOverlay("a", { capacity: a }), nodeOverlay("b", { capacity: b })]);
    expect(verdicts.get("a")?.outcome).toBe(conflict ? "Conflict" : "Applied");
  });

  it("a third overlay of the same weight conflicts too (Karpenter forgets the first)", () => {
    const { verdicts } = apply([
      nodeOverlay("c", { capacity: { "a.b/x": "1" } }),
      nodeOverlay("b", { capacity: { "a.b/y": "1" } }),
      nodeOverlay("a", { capacity: { "a.b/x": "2" } }),
    ]);
    expect(verdicts.get("a")?.outcome).toBe("Conflict");
  });

  it.for<{ name: string; spec: Partial<NodeOverlaySpec> }>([
    { name: "price", spec: { price: "2" } },
    { name: "resource", spec: { capacity: { "a.b/x": "1" } } },
  ])("two overlays of one weight conflict over a $name that a third one of greater weight decides", ({ spec }) => {
    const { verdicts } = apply([nodeOverlay("heavy", { ...spec, weight: 9 }), nodeOverlay("b", spec), nodeOverlay("a", spec)]);
    expect(["heavy", "b", "a"].map((name) => verdicts.get(name)?.outcome)).toEqual(["Applied", "Applied", "Conflict"]);
  });

  it("a conflict in one NodePool keeps an overlay from all NodePools", () => {
    const pools = [nodePool("one"), nodePool("two")];
    const { price } = apply([pricing("a"), pricing("b", { price: "3", requirements: [only("karpenter.sh/nodepool", "two")] })], pools);
    expect(price("m.large", "on-demand", "zone-a", "one")).toBe(1);
    expect(price("m.large", "on-demand", "zone-a", "two")).toBe(3);
  });

  it("an invalid overlay changes nothing and conflicts with nothing", () => {
    const { price, said } = apply([pricing("bad", { price: "x" }), pricing("a", { price: "2" })]);
    expect(said("bad")).toContain('RuntimeValidation: spec.price "x" is not a price');
    expect(price("m.large")).toBe(2);
  });
});

describe("unknown prices", () => {
  const unpriced = {
    ...m,
    offerings: [{ zone: "zone-a", capacityType: "on-demand" as const, price: 0, available: false, unpriced: true as const }],
  };
  it.for<{ name: string; spec: Partial<NodeOverlaySpec>; available: boolean }>([
    { name: "a price for the type by name", spec: { price: "2", requirements: [only(TYPE, "m.large", "c.large")] }, available: true },
    {
      name: "a price for more than a name",
      spec: { price: "2", requirements: [only(TYPE, "m.large"), only(ZONE, "zone-a")] },
      available: false,
    },
    { name: "a price for a family", spec: { price: "2", requirements: [only(FAMILY, "m")] }, available: false },
    { name: "an adjustment", spec: { priceAdjustment: "+2", requirements: [only(TYPE, "m.large")] }, available: false },
  ])("$name makes an offering without a price available: $available", ({ spec, available }) => {
    const { instanceTypes } = apply([nodeOverlay("x", spec)], [nodePool()], [unpriced]);
    expect(instanceTypes.get("default")?.[0]?.offerings[0]).toMatchObject({ available, price: 2 });
  });

  it("a price makes no offering available that is unavailable for another reason", () => {
    const out = { ...m, offerings: m.offerings.map((offering) => ({ ...offering, available: false })) };
    const { instanceTypes } = apply([pricing("x", { requirements: [only(TYPE, "m.large")] })], [nodePool()], [out]);
    expect(instanceTypes.get("default")?.[0]?.offerings.some(({ available }) => available)).toBe(false);
  });
});

describe("what is not changed", () => {
  it("a list, a type and an offering without a match stay the same objects", () => {
    const none = apply([pricing("x", { requirements: [only(FAMILY, "z")] })]);
    expect(none.instanceTypes.get("default")).toBe(TYPES);
    const some = apply([pricing("x", { requirements: [only(FAMILY, "m"), only(ZONE, "zone-b")] })]).instanceTypes.get("default");
    expect(some?.[1]).toBe(c);
    expect(some?.[0]?.offerings[0]).toBe(m.offerings[0]);
    expect(some?.[0]?.requirements).toBe(m.requirements);
  });

  it("NodePools that no overlay treats differently share one list", () => {
    const pools = [nodePool("one", { labels: { team: "a" } }), nodePool("two"), nodePool("three", { labels: { tier: "x" } })];
    const { instanceTypes } = apply(
      [
        pricing("x", { requirements: [only(FAMILY, "m")] }),
        nodeOverlay("y", { requirements: [only("tier", "x")], capacity: { "a.b/x": "1" } }),
      ],
      pools,
    );
    expect(instanceTypes.get("one")).toBe(instanceTypes.get("two"));
    expect(instanceTypes.get("three")).not.toBe(instanceTypes.get("one"));
  });
});

describe("laws", () => {
  const requirement = fc.constantFrom(
    only(FAMILY, "m"),
    only(ZONE, "zone-a"),
    only(ZONE, "zone-a", "zone-b"),
    only(CAPACITY_TYPE, "spot"),
    only("karpenter.sh/nodepool", "one"),
    { key: CPU, operator: "Gt" as const, values: ["2"] },
  );
  const spec = fc.record(
    {
      requirements: fc.uniqueArray(requirement, { maxLength: 2, selector: ({ key }) => key }),
      priceAdjustment: fc.constantFrom("-100%", "-99.5%", "+10%", "-0.3", "-7", "+1"),
      capacity: fc.dictionary(fc.constantFrom("a.b/x", "a.b/y"), fc.constantFrom("1", "2"), { maxKeys: 2 }),
      weight: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: ["requirements"] },
  );
  const overlays = fc.array(spec, { maxLength: 5 }).map((specs) => specs.map((item, i) => nodeOverlay(`overlay-${i}`, item)));
  const pools = [nodePool("one"), nodePool("two", { labels: { team: "a" } })];

  it("the order of overlays and pools does not matter", () => {
    fc.assert(
      fc.property(overlays, fc.infiniteStream(fc.nat()), (list, dice) => {
        const shuffled = list
          .map((overlay) => ({ overlay, at: dice.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ overlay }) => overlay);
        const there = apply(list, pools);
        const again = apply(shuffled, pools.toReversed());
        for (const { metadata } of pools) expect(again.instanceTypes.get(metadata.name)).toEqual(there.instanceTypes.get(metadata.name));
        expect(new Map([...again.verdicts].sort())).toEqual(new Map([...there.verdicts].sort()));
      }),
    );
  });

  it("no price falls below 0, and every overlay has a verdict", () => {
    fc.assert(
      fc.property(overlays, (list) => {
        const { instanceTypes, verdicts } = apply(list, pools);
        const prices = [...instanceTypes.values()].flat().flatMap(({ offerings }) => offerings.map(({ price }) => price));
        expect(Math.min(...prices)).toBeGreaterThanOrEqual(0);
        expect(verdicts.size).toBe(list.length);
      }),
    );
  });

  it("the applied overlays alone give the same result as all overlays", () => {
    fc.assert(
      fc.property(overlays, (list) => {
        const all = apply(list, pools);
        const kept = apply(
          list.filter(({ metadata }) => all.verdicts.get(metadata.name)?.outcome === "Applied"),
          pools,
        );
        expect(kept.instanceTypes).toEqual(all.instanceTypes);
      }),
    );
  });
});
