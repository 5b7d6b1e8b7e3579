import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, findCandidates } from "#core/disruption/cluster/candidate.ts";
import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { type RemovableSet, SetTrials } from "#core/disruption/node-sets/set-trials.ts";
import { worstLaunchPrice } from "#core/disruption/prices/price.ts";
import { totalPrice } from "#core/disruption/prices/savings.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import { instanceType, NOW, planned, pod, roomForAll, type Scene, simulated, snapshot } from "../builders.ts";

interface Stage {
  readonly trials: SetTrials;
  /** The candidates with these node names. */
  readonly set: (...names: readonly string[]) => readonly Candidate[];
  /** How many simulations were made. */
  readonly asked: () => number;
}

function stage(scene: Scene, simulate: Simulate, settings: Partial<DisruptionSettings> = {}, most = 40): Stage {
  const view = viewCluster({ snapshot: snapshot(scene), records: [], commands: [], now: NOW });
  const { all } = findCandidates(view);
  let asked = 0;
  const counting: Simulate = (...question) => {
    asked++;
    return simulate(...question);
  };
  return {
    trials: new SetTrials({ view, settings: { cluster: "c", ...settings }, simulate: counting }, most),
    set: (...names) => all.filter(({ node }) => names.includes(node)),
    asked: () => asked,
  };
}

/** Nodes of $0.40 with one pod each. */
const machines = ["a", "b", "c"].map((name) => ({ name, type: "large" }));
const pods = machines.map(({ name }) => pod(`p-${name}`, name));
const scene: Scene = { machines, pods };

const needs = (...claims: readonly PlannedNodeClaim[]): Simulate => simulated(() => ({ newNodeClaims: claims }));
/** The set, or the message why it cannot be removed. */
const published = (result: ReturnType<SetTrials["try"]>): RemovableSet | string => ("net" in result ? result : describeBlocked(result));
const onDemand = { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] };
const minTypes = (minValues: number) => [onDemand, { key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues }];

describe("several replacements of several nodes", () => {
  const small = planned({ instanceTypes: ["small"], pricePerHour: 0.1 });

  it("are allowed up to the given number", () => {
    const { trials, set } = stage(scene, needs(small, small, small));
    expect(trials.try(set("a", "b"), 3, "full")).toMatchObject({ replacements: [small, small, small] });
    expect(published(trials.try(set("a", "b"), 2, "full"))).toBe("Can't remove without creating 3 candidates");
  });

  it("save two cents an hour for each additional node", () => {
    const ask = (price: number) => {
      const claim = planned({ instanceTypes: ["part"], pricePerHour: price });
      const { trials, set } = stage({ ...scene, types: [instanceType("large"), instanceType("part", price)] }, needs(claim, claim));
      return published(trials.try(set("a"), 2, "full"));
    };
    expect(ask(0.18)).toMatchObject({ replacements: [{ instanceTypes: ["part"] }, { instanceTypes: ["part"] }] });
    expect(ask(0.195)).toBe("Can't remove without creating 2 candidates");
  });

  it("save the price of the candidates less their own", () => {
    const { trials, set } = stage(scene, needs(small, small, small));
    const found = trials.try(set("a", "b"), 3, "full");
    expect("net" in found && found.savings).toBeCloseTo(0.5, 9);
  });

  it("are launched only when they cost less together", () => {
    const medium = planned({ instanceTypes: ["medium"], pricePerHour: 0.2 });
    const { trials, set } = stage(scene, needs(medium, medium));
    expect(published(trials.try(set("a"), 2, "full"))).toBe(
      "Can't replace with a cheaper node: its pods would need new nodes for $0.4000/h, it costs $0.4000/h",
    );
    expect(trials.try(set("a", "b"), 2, "full")).toMatchObject({ replacements: [medium, medium] });
  });

  it("leave out types above their share of the candidates' price", () => {
    const any = planned({ instanceTypes: ["small", "medium", "large", "huge"], pricePerHour: 0.1 });
    const { trials, set } = stage(scene, needs(any, any));
    // $0.80 for two: less than $0.40 each.
    const found = trials.try(set("a", "b"), 2, "full");
    expect("net" in found && found.replacements.map(({ instanceTypes }) => instanceTypes)).toEqual([
      ["small", "medium"],
      ["small", "medium"],
    ]);
  });

  const many = Array.from({ length: 80 }, (_, i) => instanceType(`t${String(i).padStart(2, "0")}`, 0.01 + i / 10_000));
  const names = many.map(({ name }) => name);
  const wide = { ...scene, types: [...many, instanceType("large")] };

  it("offer the sixty cheapest types, or more where minValues need more", () => {
    const offered = (requirements: PlannedNodeClaim["requirements"]) => {
      const claim = planned({ instanceTypes: names, pricePerHour: 0.01, requirements });
      const { trials, set } = stage(wide, needs(claim, claim));
      const found = trials.try(set("a", "b"), 2, "full");
      return "net" in found ? found.replacements.map(({ instanceTypes }) => instanceTypes) : published(found);
    };
    expect(offered([onDemand])).toEqual([names.slice(0, 60), names.slice(0, 60)]);
    expect(offered(minTypes(70))).toEqual([names.slice(0, 70), names.slice(0, 70)]);
    expect(offered(minTypes(81))).toBe(
      "Filtering by price: minValues of 81 for node.kubernetes.io/instance-type is not met by the cheaper instance types, which have 80",
    );
  });

  it("do not replace spot by spot unless SpotToSpotConsolidation is on", () => {
    const spotNodes = { ...scene, machines: machines.map((one) => ({ ...one, capacityType: "spot" })) };
    const spot = planned({ requirements: [{ ...onDemand, values: ["spot"] }], instanceTypes: ["small"], pricePerHour: 0.04 });
    const ask = (settings: Partial<DisruptionSettings>) => {
      const { trials, set } = stage(spotNodes, needs(spot, spot), settings);
      return published(trials.try(set("a", "b"), 2, "full"));
    };
    expect(ask({})).toBe("SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node");
    expect(ask({ spotToSpotConsolidation: true })).toMatchObject({
      replacements: [{ instanceTypes: ["small"] }, { instanceTypes: ["small"] }],
    });
  });

  it("cost less than the candidates in whichever zone and as whichever type they are launched", () => {
    const price = fc.integer({ min: 1, max: 40 }).map((cents) => cents / 100);
    const type = fc.record({ a: price, b: price, spotA: price, spotB: price });
    const requirements = fc.constantFrom(["on-demand"], ["spot"], ["on-demand", "spot"]).map((values) => [{ ...onDemand, values }]);
    const claims = fc.array(fc.tuple(fc.uniqueArray(fc.nat(4), { minLength: 1 }), requirements), { minLength: 1, maxLength: 4 });
    let found = 0;
    fc.assert(
      fc.property(fc.array(type, { minLength: 5, maxLength: 5 }), claims, (list, wanted) => {
        const types = list.map((prices, i): InstanceType => withPrices(instanceType(`t${i}`), prices));
        const answer = wanted.map(([which, asked]) =>
          planned({
            instanceTypes: which.map((i) => `t${i}`),
            requirements: asked,
            pricePerHour: Math.min(...which.map((i) => worst(types, `t${i}`, asked))),
          }),
        );
        const { trials, set } = stage({ ...scene, types: [...types, instanceType("large")] }, needs(...answer));
        const going = set("a", "b", "c");
        const result = trials.try(going, 4, "full");
        if (!("net" in result)) return;
        found++;
        const most = result.replacements.map((claim) => {
          expect(claim.instanceTypes.length).toBeGreaterThan(0);
          return Math.max(...claim.instanceTypes.map((name) => worst(types, name, claim.requirements)));
        });
        expect(most.reduce((sum, one) => sum + one, 0)).toBeLessThan(totalPrice(going));
      }),
    );
    expect(found).toBeGreaterThan(10);
  });
});

function withPrices(
  type: InstanceType,
  prices: { readonly a: number; readonly b: number; readonly spotA: number; readonly spotB: number },
) {
  const { a, b, spotA, spotB } = prices;
  const priceOf = (zone: string, capacityType: string) => (capacityType === "spot" ? (zone === "a" ? spotA : spotB) : zone === "a" ? a : b);
  return { ...type, offerings: type.offerings.map((one) => ({ ...one, price: priceOf(one.zone, one.capacityType) })) };
}

function worst(types: readonly InstanceType[], name: string, requirements: PlannedNodeClaim["requirements"]): number {
  const type = types.find((one) => one.name === name);
  return type === undefined ? Number.POSITIVE_INFINITY : worstLaunchPrice(type, requirementsFrom(requirements));
}

describe("one replacement of several nodes", () => {
  it("is of a candidate's type only where it is cheaper than each such candidate", () => {
    const mixed = {
      machines: [
        { name: "a", type: "large" },
        { name: "b", type: "huge" },
      ],
      pods,
    };
    const { trials, set } = stage(mixed, needs(planned({ instanceTypes: ["small", "large", "huge"] })));
    const found = trials.try(set("a", "b"), 1, "full");
    expect("net" in found && found.replacements[0]?.instanceTypes).toEqual(["small"]);
    const same = stage(mixed, needs(planned({ instanceTypes: ["large"], pricePerHour: 0.4 })));
    expect(published(same.trials.try(same.set("a", "b"), 1, "full"))).toBe("Can't replace with a cheaper node");
  });
});

describe("of the sets that SetTrials has tried", () => {
  it("the best saves most", () => {
    const { trials, set } = stage(scene, roomForAll);
    trials.try(set("a"), 1, "quick");
    trials.try(set("a", "b"), 1, "quick");
    trials.try(set("c"), 1, "quick");
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["a", "b"]);
    expect(trials.best?.savings).toBeCloseTo(0.8, 9);
  });

  it("the best does not save hardly more by many more moves", () => {
    const crowd = Array.from({ length: 20 }, (_, i) => pod(`crowd-${i}`, "b"));
    const types = [instanceType("large"), instanceType("larger", 0.45)];
    const uneven = {
      machines: [
        { name: "a", type: "large" },
        { name: "b", type: "larger" },
      ],
      pods: [pod("p-a", "a"), ...crowd],
      types,
    };
    const { trials, set } = stage(uneven, roomForAll);
    trials.try(set("a"), 1, "quick");
    trials.try(set("b"), 1, "quick");
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["a"]);
  });

  it("the best has, of equal savings, fewer new nodes, because each has a volume", () => {
    const one = planned({ instanceTypes: ["wide"], pricePerHour: 0.4 });
    const half = planned({ instanceTypes: ["medium"], pricePerHour: 0.2 });
    const simulate = simulated(({ excludeNodes }) => ({ newNodeClaims: excludeNodes.has("c") ? [one] : [half, half] }));
    const types = [instanceType("large"), instanceType("medium"), instanceType("wide", 0.4)];
    const { trials, set } = stage({ ...scene, types }, simulate);
    trials.try(set("a", "b"), 2, "full");
    trials.try(set("b", "c"), 2, "full");
    expect(trials.tried.map(({ savesPerHour }) => Number(savesPerHour.toFixed(9)))).toEqual([0.4, 0.4]);
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["b", "c"]);
  });

  it("each is worth less by its disruption cost within a horizon", () => {
    const found = (settings: Partial<DisruptionSettings>) => {
      const { trials, set } = stage(scene, roomForAll, settings);
      trials.try(set("a", "b"), 1, "quick");
      return trials.best?.net ?? 0;
    };
    // Two nodes and two pods at $0.10 each, over two hours.
    expect(found({}) - found({ horizonMs: 7_200_000, podMoveCost: 0.1 })).toBeCloseTo(0.2, 9);
  });

  it("each is simulated once, in any order of its nodes", () => {
    const { trials, set, asked } = stage(scene, roomForAll, {}, 2);
    const first = trials.try(set("a", "b"), 1, "quick");
    expect(trials.try(set("a", "b").toReversed(), 1, "quick")).toBe(first);
    expect([asked(), trials.isExhausted]).toEqual([1, false]);
    trials.try(set("c"), 1, "quick");
    expect([asked(), trials.isExhausted]).toEqual([2, true]);
  });

  it("the best removes, of equal savings and moves, more nodes, because each has a volume", () => {
    const unequal = [
      { name: "a", type: "large" },
      { name: "b", type: "medium" },
      { name: "c", type: "medium" },
    ];
    const { trials, set } = stage({ machines: unequal, pods: [pod("p", "a"), pod("q", "a"), pod("r", "b"), pod("s", "c")] }, roomForAll);
    trials.try(set("a"), 1, "quick");
    trials.try(set("b", "c"), 1, "quick");
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["b", "c"]);
  });

  it("each is listed, with why it was rejected", () => {
    const simulate = simulated(({ excludeNodes }) => (excludeNodes.has("c") ? { podErrors: { "default/p-c": "no room" } } : {}));
    const { trials, set } = stage(scene, simulate);
    trials.try(set("a", "c"), 1, "quick");
    trials.try(set("a"), 1, "quick");
    trials.consider(set("a", "b"), { replacements: [planned({ instanceTypes: ["small"], pricePerHour: 0.1 })], destinations: {} });
    const savings = trials.tried.map(({ savesPerHour }) => Number(savesPerHour.toFixed(6)));
    expect(trials.tried.map(({ savesPerHour: _, ...one }, i) => ({ ...one, saves: savings[i] }))).toEqual([
      {
        nodes: ["a", "c"],
        saves: 0,
        podsMoved: 2,
        replacements: [],
        verdict: "rejected",
        why: { reason: "PodsUnplaced", errors: [["default/p-c", "no room"]] },
      },
      { nodes: ["a"], saves: 0.4, podsMoved: 1, replacements: [], verdict: "rejected" },
      { nodes: ["a", "b"], saves: 0.7, podsMoved: 2, replacements: ["small"], verdict: "chosen" },
    ]);
  });
});
