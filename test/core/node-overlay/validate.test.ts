import { describe, expect, it } from "vitest";
import type { NodeOverlaySpec } from "#core/model/node-overlay.ts";
import { nodeOverlayProblems } from "#core/node-overlay/validate.ts";
import { nodeOverlay, only } from "./builders.ts";

const problems = (spec: Partial<NodeOverlaySpec>) => nodeOverlayProblems(nodeOverlay("x", spec));

describe("an overlay that can be applied", () => {
  it.for<{ name: string; spec: Partial<NodeOverlaySpec> }>([
    { name: "nothing at all", spec: {} },
    { name: "a price", spec: { price: "1.25" } },
    { name: "a share off", spec: { priceAdjustment: "-12.5%" } },
    { name: "a share on top", spec: { priceAdjustment: "+.5%" } },
    {
      name: "capacity as text and as a number",
      spec: { capacity: { "example.com/a": "4", "smarter-devices/fuse": 1, "hugepages-2Mi": "1Gi" } },
    },
    { name: "its pool", spec: { requirements: [only("karpenter.sh/nodepool", "default")] } },
    { name: "an order", spec: { requirements: [{ key: "karpenter.k8s.aws/instance-cpu", operator: "Gt", values: ["4"] }] } },
    { name: "the greatest weight", spec: { weight: 10_000 } },
  ])("an overlay with $name is valid", ({ spec }) => {
    expect(problems(spec)).toEqual([]);
  });
});

describe("an overlay that cannot be applied", () => {
  it.for<{ name: string; spec: Partial<NodeOverlaySpec>; says: string }>([
    { name: "price and adjustment", spec: { price: "1", priceAdjustment: "+1" }, says: "exclude each other" },
    { name: "a signed price", spec: { price: "-1" }, says: 'spec.price "-1" is not a price' },
    { name: "an adjustment without a sign", spec: { priceAdjustment: "10%" }, says: 'spec.priceAdjustment "10%"' },
    { name: "a reduction of more than 100 %", spec: { priceAdjustment: "-101%" }, says: 'at least "-100%"' },
    { name: "cpu", spec: { capacity: { cpu: "4" } }, says: "only extended resources" },
    { name: "an invalid amount", spec: { capacity: { "a.b/c": "lots" } }, says: 'a.b/c has "lots"' },
    { name: "an amount below 0", spec: { capacity: { "a.b/c": "-1" } }, says: 'a.b/c has "-1"' },
    { name: "an invalid resource name", spec: { capacity: { "a b": "1" } }, says: '"a b" is not a resource\'s name' },
    { name: "NotIn of nothing", spec: { requirements: [{ key: "a", operator: "NotIn" }] }, says: "NotIn must list at least one value" },
    { name: "In of nothing", spec: { requirements: [only("a")] }, says: "In must list at least one value" },
    { name: "Gt of a word", spec: { requirements: [{ key: "a", operator: "Gt", values: ["x"] }] }, says: "exactly one integer" },
    { name: "a restricted label", spec: { requirements: [only("kubernetes.io/hostname", "n")] }, says: "is restricted" },
    { name: "an invalid key", spec: { requirements: [{ key: "a//b", operator: "Exists" }] }, says: '"a//b" is not a label key' },
    { name: "an invalid value", spec: { requirements: [only("a", "x y")] }, says: '"x y", which is not a label value' },
    { name: "a weight of 0", spec: { weight: 0 }, says: "a whole number from 1 to 10000" },
  ])("an overlay with $name is refused", ({ spec, says }) => {
    const [first = "", ...others] = problems(spec);
    expect(first).toContain(says);
    expect(others).toEqual([]);
  });

  it("every problem of an overlay is reported", () => {
    expect(problems({ price: "x", weight: -1, capacity: { pods: "1" } })).toHaveLength(3);
  });
});
