import { expect, it } from "vitest";
import { relaxationSteps } from "#core/scheduling/rules/preferences.ts";
import { solve } from "#core/scheduling/solve.ts";
import { pod, snapshot } from "../core/disruption/builders.ts";

// As many rules as fit into an object of 1.5 MB, which is what the API server takes. Each kind once took time or memory
// with the square of their number: 27 s and 1 GB for 8,000 hard spreads, 11 s for 2,000 terms with eight spreads.
const COUNT = 8_000;
const many = <T>(make: (i: number) => T): readonly T[] => Array.from({ length: COUNT }, (_, i) => make(i));

const term = (i: number) => ({ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: `a${i}` } } });
const preferred = many((i) => ({ weight: 1 + (i % 100), podAffinityTerm: term(i) }));
const spread = (i: number, whenUnsatisfiable: string) => ({
  ...{ maxSkew: 1, topologyKey: `k${i}`, whenUnsatisfiable },
  labelSelector: { matchLabels: { app: "x" } },
});
const nodeTerm = (i: number) => ({ matchExpressions: [{ key: "team", operator: "In", values: [`t${i}`] }] });
const orTerms = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: many(nodeTerm) } };

const PODS: Readonly<Record<string, object>> = {
  "preferred pod affinity terms": { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } },
  "required pod affinity terms": { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: many(term) } } },
  "required pod anti-affinity terms": { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: many(term) } } },
  "preferred node affinity terms": {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: many((i) => ({ weight: 1, preference: nodeTerm(i) })) } },
  },
  "required node affinity terms, and eight spreads": {
    affinity: { nodeAffinity: orTerms },
    topologySpreadConstraints: Array.from({ length: 8 }, (_, i) => spread(i, "ScheduleAnyway")),
  },
  "hard spreads": { topologySpreadConstraints: many((i) => spread(i, "DoNotSchedule")) },
  "soft spreads": { topologySpreadConstraints: many((i) => spread(i, "ScheduleAnyway")) },
};

it.for(Object.keys(PODS))("a pod with 8,000 %s keeps no other pod waiting", { timeout: 60_000 }, (what) => {
  const big = { ...pod("big"), spec: { ...pod("big").spec, ...PODS[what] } };
  const plan = solve(snapshot({ machines: [{ name: "n1" }], pods: [big, pod("small")] }));
  expect(plan.podErrors["default/small"]).toBeUndefined();
});

it("preferences are given up one by one up to a hundred of a kind, and several at a time beyond", () => {
  const stepsWith = (count: number) =>
    relaxationSteps(
      { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred.slice(0, count) } } },
      "Respect",
      false,
    );
  expect(stepsWith(3).map(({ affinity }) => affinity.length)).toEqual([3, 2, 1, 0]);
  expect(stepsWith(100)).toHaveLength(101);
  expect(stepsWith(8_000)).toHaveLength(101);
  expect(stepsWith(8_000).at(-1)?.affinity).toEqual([]);
});
