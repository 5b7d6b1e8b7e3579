import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../core/model/pod.ts";
import { requiredTerms, shapesOf } from "../../../../core/scheduling/rules/preferences.ts";

const term = (value: string) => ({ matchExpressions: [{ key: "zone", operator: "In" as const, values: [value] }] });
const near = (app: string) => ({ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } });
const spread = (topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway") => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable,
});

/** Something of everything that can be given up. */
const picky: PodSpec = {
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

describe("a pod is tried in shapes that ask for less and less", () => {
  const shapes = shapesOf(picky, "Respect", true);

  it("in Karpenter's order: terms, company, distance, nodes, spreads, soft taints (scheduling.md §7)", () => {
    expect(shapes.map(({ relaxed }) => relaxed)).toEqual([
      undefined,
      "the first required node affinity term",
      "the heaviest preferred pod affinity",
      "the heaviest preferred pod anti-affinity",
      "the heaviest preferred pod anti-affinity",
      "the heaviest preferred node affinity",
      "the heaviest preferred node affinity",
      "a ScheduleAnyway topology spread",
      "avoiding PreferNoSchedule taints",
    ]);
  });

  it("the first with everything, of preferred node terms the heaviest", () => {
    expect([...(shapes[0]?.requirements.get("zone")?.values ?? [])]).toEqual(["a"]);
    expect([...(shapes[0]?.requirements.get("size")?.values ?? [])]).toEqual(["heavy"]);
    expect(shapes[0]?.strict.has("size")).toBe(false);
    expect(appsOf(shapes[0]?.antiAffinity ?? [])).toEqual(["rival", "heavy", "light"]);
    expect(shapes[0]?.spreads).toHaveLength(2);
  });

  it("the heaviest given up first", () => {
    expect(appsOf(shapes[3]?.antiAffinity ?? [])).toEqual(["rival", "light"]);
    expect([...(shapes[5]?.requirements.get("size")?.values ?? [])]).toEqual(["light"]);
  });

  it("the last with what is required and no more", () => {
    const last = shapes.at(-1);
    expect([...(last?.requirements.keys() ?? [])]).toEqual(["zone"]);
    expect([...(last?.requirements.get("zone")?.values ?? [])]).toEqual(["b"]);
    expect(last?.affinity).toEqual([]);
    expect(appsOf(last?.antiAffinity ?? [])).toEqual(["rival"]);
    expect(last?.spreads.map(({ topologyKey }) => topologyKey)).toEqual(["zone"]);
    expect(last?.tolerations).toEqual([{ operator: "Exists", effect: "PreferNoSchedule" }]);
  });
});

it("looks at no preference when told to ignore them, and at soft taints only where there are some", () => {
  expect(shapesOf(picky, "Ignore", false).map(({ relaxed }) => relaxed)).toEqual([undefined, "the first required node affinity term"]);
  expect(shapesOf({}, "Respect", false)).toHaveLength(1);
});

it("says which key of a pod's own demands contradicts itself", () => {
  const torn = shapesOf({ nodeSelector: { zone: "b" }, ...picky }, "Ignore", false);
  expect(torn.map(({ contradiction }) => contradiction)).toEqual(["zone", undefined]);
});

it("passes over terms that nobody can read, and meets no node when all are so", () => {
  const odd = { matchExpressions: [{ key: "size", operator: "Gt" as const, values: ["big"] }] };
  const withTerms = (...terms: (typeof odd | ReturnType<typeof term>)[]): PodSpec => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  });
  expect(requiredTerms(withTerms(odd, term("a")))).toEqual([term("a")]);
  expect(requiredTerms(withTerms())).toEqual([]);
  expect(shapesOf(withTerms(odd), "Respect", false)[0]?.contradiction).toBe("node.kubernetes.io/instance-type");
});
