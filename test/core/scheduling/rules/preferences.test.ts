import { describe, expect, it } from "vitest";
import type { PodSpec } from "#core/model/pod.ts";
import { relaxationSteps, requiredTerms } from "#core/scheduling/rules/preferences.ts";

const term = (value: string) => ({ matchExpressions: [{ key: "zone", operator: "In" as const, values: [value] }] });
const near = (app: string) => ({ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } });
const spread = (topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway") => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable,
});

/** A pod with every kind of constraint that can be relaxed. */
const constrained: PodSpec = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term("a"), term("b")] },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "size", operator: "In", values: ["light"] }] } },
        { weight: 50, preference: { matchExpressions: [{ key: "size", operator: "In", values: ["heavy"] }] } },
      ],
    },
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: near("db") }] },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [near("rival")],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: near("light") },
        { weight: 9, podAffinityTerm: near("heavy") },
      ],
    },
  },
  topologySpreadConstraints: [spread("rack", "ScheduleAnyway"), spread("zone", "DoNotSchedule")],
};
const appsOf = (terms: readonly { readonly labelSelector?: { readonly matchLabels?: Readonly<Record<string, string>> } }[]) =>
  terms.map(({ labelSelector }) => labelSelector?.matchLabels?.["app"]);

describe("relaxation steps", () => {
  const steps = relaxationSteps(constrained, "Respect", true);

  it("steps relax in Karpenter's order: terms, pod affinity, anti-affinity, node affinity, spreads, soft taints", () => {
    expect(steps.map(({ relaxed }) => relaxed)).toEqual([
      undefined,
      "the first required node affinity term",
      "the heaviest preferred pod affinity",
      "the heaviest preferred pod anti-affinity",
      "the heaviest preferred pod anti-affinity",
      "the heaviest preferred node affinity",
      "the heaviest preferred node affinity",
      "a ScheduleAnyway topology spread",
      "avoiding PreferNoSchedule taints",
      "the other required node affinity terms, and all preferences",
    ]);
  });

  it("the first step has all constraints, and of preferred node terms the heaviest", () => {
    expect([...(steps[0]?.requirements.get("zone")?.values ?? [])]).toEqual(["a"]);
    expect([...(steps[0]?.requirements.get("size")?.values ?? [])]).toEqual(["heavy"]);
    expect(steps[0]?.strict.has("size")).toBe(false);
    expect(appsOf(steps[0]?.antiAffinity ?? [])).toEqual(["rival", "heavy", "light"]);
    expect(steps[0]?.spreads).toHaveLength(2);
  });

  it("the heaviest preference is relaxed first", () => {
    expect(appsOf(steps[3]?.antiAffinity ?? [])).toEqual(["rival", "light"]);
    expect([...(steps[5]?.requirements.get("size")?.values ?? [])]).toEqual(["light"]);
  });

  it.for([
    { at: -2, term: "b" },
    { at: -1, term: "a" },
  ])("each of OR-ed terms has a last step with only required constraints: $term", ({ at, term: zone }) => {
    const last = steps.at(at);
    expect([...(last?.requirements.keys() ?? [])]).toEqual(["zone"]);
    expect([...(last?.requirements.get("zone")?.values ?? [])]).toEqual([zone]);
    expect(last?.affinity).toEqual([]);
    expect(appsOf(last?.antiAffinity ?? [])).toEqual(["rival"]);
    expect(last?.spreads.map(({ topologyKey }) => topologyKey)).toEqual(["zone"]);
    expect(last?.tolerations).toEqual([{ operator: "Exists", effect: "PreferNoSchedule" }]);
  });
});

it("policy Ignore drops preferences, and without soft taints there is no step to tolerate them", () => {
  expect(relaxationSteps(constrained, "Ignore", false).map(({ relaxed }) => relaxed)).toEqual([
    undefined,
    "the first required node affinity term",
  ]);
  expect(relaxationSteps({}, "Respect", false)).toHaveLength(1);
});

it("a step names the key whose requirements exclude each other", () => {
  const steps = relaxationSteps({ nodeSelector: { zone: "b" }, ...constrained }, "Ignore", false);
  expect(steps.map(({ contradiction }) => contradiction)).toEqual(["zone", undefined]);
});

it("invalid terms are skipped, and a pod with only invalid terms fits no node", () => {
  const odd = { matchExpressions: [{ key: "size", operator: "Gt" as const, values: ["big"] }] };
  const withTerms = (...terms: (typeof odd | ReturnType<typeof term>)[]): PodSpec => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  });
  expect(requiredTerms(withTerms(odd, term("a")))).toEqual([term("a")]);
  expect(requiredTerms(withTerms())).toEqual([]);
  expect(relaxationSteps(withTerms(odd), "Respect", false)[0]?.contradiction).toBe("node.kubernetes.io/instance-type");
});
