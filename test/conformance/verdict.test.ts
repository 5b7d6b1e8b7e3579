import { expect, it } from "vitest";
import { instanceType, pod, scenario } from "../support/scheduling/builders.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { compareWithKarpenter } from "./verdict.ts";

const small = instanceType("m5.large", 2, 8, { price: 0.1 });
const large = instanceType("m5.4xlarge", 16, 64, { price: 0.8 });
const four = instanceType("c5.large", 4, 8, { price: 0.1 });
const eight = instanceType("m5.xlarge", 8, 32, { price: 0.21 });
const cluster = scenario({ pods: [pod("a"), pod("b", { cpu: "3" })], instanceTypes: [small, large, four, eight] });
const onDemand = [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }];

/** A plan with one NodeClaim for each type and its pods. */
function plan(...claims: readonly (readonly [type: string, ...pods: string[]])[]): RawJson {
  const placed = new Set(claims.flatMap(([, ...pods]) => pods));
  return {
    newNodeClaims: claims.map(([type, ...pods]) => ({
      nodePool: "default",
      requirements: onDemand,
      instanceTypes: [type],
      pods: pods.map((name) => `default/${name}`),
    })),
    existingNodes: [],
    podErrors: Object.fromEntries(["a", "b"].filter((name) => !placed.has(name)).map((name) => [`default/${name}`, "left"])),
  };
}

const together = plan(["m5.4xlarge", "a", "b"]);
const apart = plan(["m5.large", "a"], ["m5.4xlarge", "b"]);
const onlyA = plan(["m5.large", "a"]);
// Two nodes for $0.20 cost $0.24 with $0.02 for each.
const dear = plan(["m5.xlarge", "a", "b"]);
const cheap = plan(["m5.large", "a"], ["c5.large", "b"]);
const tooSmall = plan(["m5.large", "a"], ["m5.large", "b"]);

it.for([
  { name: "the same plan", ours: together, answers: [together], want: { isDearer: false, left: [], more: [] } },
  {
    name: "dearer than the best of two runs",
    ours: apart,
    answers: [apart, together],
    want: { isDearer: true, best: { price: 0.8, cost: 0.8 + 0.02, nodes: 1 }, price: 0.9, cost: 0.94 },
  },
  { name: "one node that is billed more than two", ours: dear, answers: [cheap], want: { isDearer: false, price: 0.21, cost: 0.23 } },
  { name: "a pod that each run places", ours: onlyA, answers: [apart, together], want: { left: ["default/b"], leftSometimes: [] } },
  { name: "a pod that one run places", ours: onlyA, answers: [onlyA, together], want: { left: [], leftSometimes: ["default/b"] } },
  { name: "a pod that Karpenter places unlawfully", ours: onlyA, answers: [tooSmall], want: { left: [], leftSometimes: [] } },
  {
    name: "prices of runs that place other pods",
    ours: together,
    answers: [onlyA],
    want: { isDearer: false, best: undefined, more: ["default/b"] },
  },
])("$name", ({ ours, answers, want }) => {
  const result = compareWithKarpenter(cluster, ours, answers);
  expect(result.broken).toEqual([]);
  for (const [key, value] of Object.entries(want)) {
    const got = result[key as keyof typeof result];
    if (typeof value === "number") expect(got).toBeCloseTo(value);
    else expect(got).toEqual(value);
  }
});

it("the comparison names the rule that our plan breaks", () => {
  expect(compareWithKarpenter(cluster, tooSmall, [together]).broken.join()).toContain("does not fit m5.large: cpu");
});
