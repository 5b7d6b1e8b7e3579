import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PodSpec } from "#core/model/pod.ts";
import { PRICE_TOLERANCE } from "#core/model/prices.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import { Attempt } from "#core/scheduling/attempt.ts";
import { sharedLabels } from "#core/scheduling/packing/shared-labels.ts";
import { bestAttempt, planCost } from "#core/scheduling/search.ts";
import { instanceType, nodePool, pods, type Scenario, scenario } from "#test/support/scheduling/builders.ts";
import { problemFromParts } from "./packing-builders.ts";

type Item = { readonly key: string; readonly operator: "In" | "NotIn" | "Exists"; readonly values?: readonly string[] };

const requires = (matchExpressions: readonly Item[]): PodSpec => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
});

const TIERS = ["gold", "silver", "bronze"];
const RACKS = ["r1", "r2"];
const POOL = nodePool("default", {
  requirements: [
    { key: "tier", operator: "In", values: TIERS },
    { key: "rack", operator: "In", values: RACKS },
  ],
});
const TYPES = [
  instanceType("c.large", 2, 4, { price: 0.085 }),
  instanceType("m.large", 2, 8, { price: 0.096 }),
  instanceType("c.xlarge", 4, 8, { price: 0.17 }),
  instanceType("m.2xlarge", 8, 32, { price: 0.384 }),
];

/** One wish about a label, worded in different ways. */
const wish = (key: string, values: readonly string[]): fc.Arbitrary<readonly Item[]> =>
  fc.oneof(
    fc.constant([]),
    fc.constant([{ key, operator: "Exists" as const }]),
    fc.subarray([...values], { minLength: 1, maxLength: 2 }).map((chosen) => [{ key, operator: "In" as const, values: chosen }]),
    fc.subarray([...values], { minLength: 1, maxLength: 1 }).map((chosen) => [{ key, operator: "NotIn" as const, values: chosen }]),
  );

const wishes = fc.tuple(wish("tier", TIERS), wish("rack", RACKS)).map((items) => items.flat());

/** Deployments of which each words its wishes about the pool's own labels in its own way. */
const deployments = fc.array(
  fc.record({
    items: wishes,
    cpu: fc.constantFrom("100m", "250m", "500m", "1"),
    memory: fc.constantFrom("256Mi", "1Gi", "2Gi"),
    count: fc.integer({ min: 1, max: 5 }),
  }),
  { minLength: 2, maxLength: 5 },
);

type Deployments = typeof deployments extends fc.Arbitrary<infer T> ? T : never;

function clusterOf(list: Deployments, worded: (items: readonly Item[]) => readonly Item[] = (items) => items): Scenario {
  const all = list.flatMap(({ items, cpu, memory, count }, i) =>
    pods(count, `d${i}`, { cpu, memory }, items.length === 0 ? {} : requires(worded(items))),
  );
  return scenario({ nodePools: [POOL], instanceTypes: TYPES, pods: all });
}

/** The same wish as a list of the pool's values. */
const listed = (items: readonly Item[]): readonly Item[] =>
  items.map(({ key, operator, values = [] }) => {
    const all = key === "tier" ? TIERS : RACKS;
    return { key, operator: "In", values: all.filter((value) => operator === "Exists" || values.includes(value) === (operator === "In")) };
  });

describe("pods that word a NodePool's own labels differently", () => {
  it("cost no more than an attempt costs that packs nothing", () => {
    fc.assert(
      fc.property(deployments, (list) => {
        const problem = problemFromParts(clusterOf(list));
        const greedy = new Attempt(problem, { claims: "fewest-pods", seed: 0 }).run();
        const best = bestAttempt(problem, "full");
        expect(best.failed.size).toBe(0);
        expect(planCost(best)).toBeLessThanOrEqual(planCost(greedy) + PRICE_TOLERANCE);
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it("cost the same when each wish is a list of the pool's values", () => {
    fc.assert(
      fc.property(deployments, (list) => {
        const cost = (parts: Scenario): number => planCost(bestAttempt(problemFromParts(parts), "full"));
        expect(cost(clusterOf(list))).toBeCloseTo(cost(clusterOf(list, listed)), 9);
      }),
      { numRuns: 30, seed: 2 },
    );
  });

  it("share a node with pods that use another label", () => {
    const red = pods(3, "red", { cpu: "500m" }, requires([{ key: "tier", operator: "NotIn", values: ["gold", "bronze"] }]));
    const first = pods(3, "first", { cpu: "500m" }, { nodeSelector: { rack: "r1" } });
    const any = pods(1, "any", { cpu: "500m" }, requires([{ key: "tier", operator: "Exists" }]));
    const best = bestAttempt(
      problemFromParts(scenario({ nodePools: [POOL], instanceTypes: TYPES, pods: [...red, ...first, ...any] })),
      "full",
    );
    expect(best.claims.map(({ pods: held }) => held.length)).toEqual([7]);
  });
});

describe("sharedLabels", () => {
  const keys = ["tier", "rack"] as const;

  it("has a set for all kinds that some values suit, and no other", () => {
    fc.assert(
      fc.property(fc.array(wishes, { minLength: 1, maxLength: 6 }), (kinds) => {
        const { sets, areAll } = sharedLabels(kinds.map((items) => requirementsFrom(items)));
        expect(areAll).toBe(true);
        const allowed = (items: readonly Item[], key: string, value: string | undefined): boolean =>
          items.every(({ key: own, operator, values = [] }) => {
            if (own !== key) return true;
            if (operator === "Exists") return value !== undefined;
            return value === undefined ? operator === "NotIn" : values.includes(value) === (operator === "In");
          });
        const choices = [...TIERS, ...RACKS, "other", undefined];
        const possible = choices.flatMap((tier) =>
          choices.map((rack) =>
            kinds.flatMap((items, kind) => (keys.every((key) => allowed(items, key, key === "tier" ? tier : rack)) ? [kind] : [])),
          ),
        );
        for (const set of sets) expect(possible).toContainEqual(set);
        for (const set of possible) expect(sets.some((other) => set.every((kind) => other.includes(kind)))).toBe(true);
        expect(new Set(sets.map((set) => set.join())).size).toBe(sets.length);
      }),
      { numRuns: 100, seed: 3 },
    );
  });

  it("says that sets are missing, and keeps each kind in one", () => {
    const kinds = Array.from({ length: 9 }, (_, i) =>
      ["a", "b"].map((value) => requirementsFrom([{ key: `l${i}`, operator: "In", values: [value] }])),
    ).flat();
    const { sets, areAll } = sharedLabels(kinds);
    expect(areAll).toBe(false);
    expect(new Set(sets.flat()).size).toBe(kinds.length);
  });

  it("joins kinds whose bounds meet", () => {
    const bounded = (operator: "Gt" | "Lt", value: string) => requirementsFrom([{ key: "level", operator, values: [value] }]);
    expect(sharedLabels([bounded("Gt", "3"), bounded("Gt", "5"), bounded("Lt", "5"), new Map()]).sets).toEqual([
      [0, 2, 3],
      [0, 1, 3],
    ]);
  });
});
