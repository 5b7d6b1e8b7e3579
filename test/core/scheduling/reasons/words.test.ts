import { describe, expect, it } from "vitest";
import { requirement } from "#core/requirements/requirement.ts";
import { intersectAll, requirementsFrom } from "#core/requirements/requirements.ts";
import { amountText, counted, inOrder, listed, requirementText, selectorText } from "#core/scheduling/reasons/words.ts";

it.for([
  { names: [], text: "none" },
  { names: ["a"], text: "a" },
  { names: ["a", "b", "c"], text: "a, b and c" },
  { names: ["a", "b", "c", "d"], text: "a, b, c and d" },
  { names: ["a", "b", "c", "d", "e"], text: "a, b, c and 2 more" },
])("$names are listed as $text", ({ names, text }) => {
  expect(listed(names, 3)).toBe(text);
});

it("one thing is counted in the singular, and numbers are sorted by size", () => {
  expect([counted(1, "pod"), counted(2, "pod"), counted(0, "pod")]).toEqual(["1 pod", "2 pods", "0 pods"]);
  expect(inOrder(["16", "2", "4"])).toEqual(["2", "4", "16"]);
  expect(inOrder(["zone-b", "zone-a"])).toEqual(["zone-a", "zone-b"]);
});

it.for([
  { item: requirement("team", "In", ["blue"]), text: "team=blue" },
  { item: requirement("team", "In", ["red", "blue"]), text: "team in (blue, red)" },
  { item: requirement("team", "NotIn", ["red"]), text: "team notin (red)" },
  { item: requirement("team", "Exists"), text: "a label team" },
  { item: requirement("team", "DoesNotExist"), text: "no label team" },
  { item: requirement("karpenter.k8s.aws/instance-cpu", "Gt", ["4"]), text: "karpenter.k8s.aws/instance-cpu >= 5" },
  { item: requirement("karpenter.k8s.aws/instance-memory", "Lt", ["4"]), text: "karpenter.k8s.aws/instance-memory <= 3 MiB" },
])("a requirement has the text $text", ({ item, text }) => {
  expect(requirementText(item)).toBe(text);
});

it("a requirement with bounds lists them and the excluded values", () => {
  const list = [
    { key: "size", operator: "Gt" as const, values: ["2"] },
    { key: "size", operator: "Lt" as const, values: ["9"] },
    { key: "size", operator: "NotIn" as const, values: ["4"] },
  ];
  const [item] = intersectAll(requirementsFrom(list)).values();
  expect(item && requirementText(item)).toBe("size >= 3 and size <= 8 and size notin (4)");
});

it.for([
  { selector: { matchLabels: { app: "web" } }, text: "app=web" },
  {
    selector: { matchLabels: { tier: "a" }, matchExpressions: [{ key: "app", operator: "In" as const, values: ["x", "y"] }] },
    text: "app in (x, y), tier=a",
  },
  { selector: { matchExpressions: [{ key: "app", operator: "Exists" as const }] }, text: "label app" },
  { selector: {}, text: "any labels" },
])("a label selector has the text $text", ({ selector, text }) => {
  expect(selectorText(selector)).toBe(text);
});

describe("an amount", () => {
  const MI = 2 ** 20 * 1000;
  it.for([
    { milli: 250, resource: "cpu", text: "250m" },
    { milli: 15_900, resource: "cpu", text: "15.9" },
    { milli: 15_999, resource: "cpu", text: "15.99" },
    { milli: 0, resource: "nvidia.com/gpu", text: "0" },
    { milli: 512 * MI, resource: "memory", text: "512Mi" },
    { milli: 65_023 * MI, resource: "memory", text: "63.49Gi" },
    { milli: 1024 * 1024 * MI, resource: "ephemeral-storage", text: "1Ti" },
    { milli: 100_000, resource: "memory", text: "100" },
  ])("$milli of $resource is $text", ({ milli, resource, text }) => {
    expect(amountText(milli, resource)).toBe(text);
  });

  it("a missing amount is rounded up, so that adding it is enough", () => {
    expect(amountText(24_101, "cpu", "up")).toBe("24.11");
    expect(amountText(24_101, "cpu")).toBe("24.1");
  });
});
