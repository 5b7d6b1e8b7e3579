import { describe, expect, it } from "vitest";
import { review } from "#core/admission/review.ts";
import type { JsonObject } from "#core/lib/json.ts";
import { MAX_PRICE_PER_HOUR as CAP, SCHEDULE } from "#core/model/labels.ts";
import { nodePool } from "../../infra/crd-samples.ts";
import { nodeOverlay } from "../../infra/node-overlay-samples.ts";

type Parts = Parameters<typeof nodePool>[0];

const of = (parts: Parts) => review(nodePool(parts) as JsonObject);
const budget = (fields: JsonObject) => ({ spec: { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "1", ...fields }] } } });
const item = (key: string, operator: string, ...values: string[]) => ({ key, operator, ...(values.length > 0 && { values }) });
const requiring = (...requirements: readonly JsonObject[]) => ({ template: { requirements } });
const taint = (key: string, effect: string) => ({ key, effect });

describe("a NodePool", () => {
  it.for([
    { name: "with required fields only", parts: {} },
    { name: "with a budget for weekday nights", parts: budget({ schedule: "0 22 * * mon-fri", duration: "8h" }) },
    { name: "with a named schedule", parts: budget({ schedule: "@daily", duration: "10m" }) },
    {
      name: "with nodes that never expire",
      parts: { template: { expireAfter: "Never" }, spec: { disruption: { consolidateAfter: "Never" } } },
    },
    {
      name: "with a range",
      parts: requiring(item("karpenter.k8s.aws/instance-cpu", "Gt", "3"), item("karpenter.k8s.aws/instance-cpu", "Lt", "9")),
    },
    { name: "with a label that its requirements allow", parts: { labels: { team: "a" }, ...requiring(item("team", "In", "a", "b")) } },
  ] satisfies readonly { name: string; parts: Parts }[])("a NodePool $name passes without warnings", ({ parts }) => {
    expect(of(parts)).toEqual({ problems: [], warnings: [] });
  });

  it.for([
    {
      name: "a minute of 61",
      parts: budget({ schedule: "61 * * * *", duration: "1h" }),
      says: /budgets\[0\]\.schedule: "61 \* \* \* \*" is no cron expression/,
    },
    { name: "an unknown weekday", parts: budget({ schedule: "0 0 * * fry", duration: "1h" }), says: /no cron expression/ },
    {
      name: "a budget longer than a Go duration",
      parts: budget({ schedule: "@daily", duration: "9999999h" }),
      says: /budgets\[0\]\.duration: 9999999h is longer/,
    },
    {
      name: "an expireAfter longer than a Go duration",
      parts: { template: { expireAfter: "2562048h" } },
      says: /expireAfter: 2562048h is longer .* use Never$/,
    },
    {
      name: "a terminationGracePeriod longer than a Go duration",
      parts: { template: { terminationGracePeriod: "9999999h" } },
      says: /terminationGracePeriod/,
    },
    {
      name: "a consolidateAfter longer than a Go duration",
      parts: { spec: { disruption: { consolidateAfter: "9999999h" } } },
      says: /consolidateAfter/,
    },
    {
      name: "one taint in both lists",
      parts: { template: { taints: [taint("a", "NoSchedule")], startupTaints: [taint("a", "NoSchedule")] } },
      says: /taint a:NoSchedule is given twice/,
    },
    {
      name: "an unknown capacity type",
      parts: requiring(item("karpenter.sh/capacity-type", "In", "cheap")),
      says: /none of the values that exist/,
    },
    {
      name: "more requirements than a NodeClaim can have",
      parts: { labels: { team: "a" }, ...requiring(...Array.from({ length: 100 }, (_, i) => item(`k${i}`, "Exists"))) },
      says: /101 together; a NodeClaim takes 100/,
    },
    {
      name: "nodes that expire at once",
      parts: { template: { expireAfter: "0s" } },
      says: /expireAfter: 0s ends before a node has started and served; give 1m or more/,
    },
  ] satisfies readonly { name: string; parts: Parts; says: RegExp }[])("a NodePool with $name is refused", ({ parts, says }) => {
    const { problems } = of(parts);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(says);
  });

  it("a NodePool with a name longer than a label value is refused", () => {
    const long = { ...nodePool({}), metadata: { name: "a".repeat(64) } };
    expect(review(long).problems).toEqual([
      expect.stringMatching(/^metadata\.name has 64 characters; .* karpenter\.sh\/nodepool, so use 63/),
    ]);
    expect(review({ ...long, metadata: { name: "a".repeat(63) } }).problems).toEqual([]);
  });

  it("all problems of a NodePool are reported at once", () => {
    const { problems } = of({ template: { expireAfter: "9999999h" }, ...budget({ schedule: "x x x x x", duration: "1h" }) });
    expect(problems).toHaveLength(2);
  });

  it.for([
    {
      name: "two In requirements without a common value",
      parts: requiring(item("kubernetes.io/arch", "In", "amd64"), item("kubernetes.io/arch", "In", "arm64")),
    },
    {
      name: "an alias of the same key",
      parts: requiring(item("kubernetes.io/arch", "In", "amd64"), item("beta.kubernetes.io/arch", "NotIn", "amd64")),
    },
    { name: "an empty range", parts: requiring(item("cpu", "Gt", "8"), item("cpu", "Lt", "9")) },
    { name: "a label against a requirement", parts: { labels: { team: "a" }, ...requiring(item("team", "NotIn", "a")) } },
  ] satisfies readonly { name: string; parts: Parts }[])(
    "a NodePool that cannot launch a node passes with a warning: $name",
    ({ parts }) => {
      expect(of(parts)).toEqual({ problems: [], warnings: [expect.stringContaining("so no node can be made")] });
    },
  );

  it.for([
    {
      name: "a NodeClass of another provider",
      parts: { template: { nodeClassRef: { group: "x.io", kind: "Foo", name: "a" } } },
      says: "no nodes are made from a Foo of x.io",
    },
    { name: "a budget for 30 February", parts: budget({ schedule: "0 0 30 2 *", duration: "1h" }), says: "names a day that never occurs" },
  ] satisfies readonly { name: string; parts: Parts; says: string }[])("a NodePool with $name gets a warning", ({ parts, says }) => {
    expect(of(parts)).toEqual({ problems: [], warnings: [expect.stringContaining(says)] });
  });
});

describe("an update", () => {
  const bad = budget({ schedule: "61 * * * *", duration: "1h" });
  const changed = (before: Parts, after: Parts) => review(nodePool(after) as JsonObject, nodePool(before) as JsonObject);

  it("an update may keep a problem that the object had before, and gets a warning", () => {
    const { problems, warnings } = changed(bad, { ...bad, template: { expireAfter: "1h" } });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("no cron expression")]);
  });

  it("an update may not add a problem", () => {
    expect(changed({}, bad).problems).toHaveLength(1);
    expect(changed(bad, { ...bad, template: { expireAfter: "9999999h" } }).problems).toEqual([expect.stringContaining("expireAfter")]);
  });
});

describe("a NodeOverlay", () => {
  const gates = { NodeOverlay: true, StaticCapacity: true };
  const spot = { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] };

  it("a NodeOverlay is reviewed without other overlays", () => {
    const overlay = (spec: JsonObject) => review(nodeOverlay(spec) as JsonObject, undefined, gates);
    expect(overlay({ requirements: [spot], price: "0.1" })).toEqual({ problems: [], warnings: [] });
    expect(overlay({ requirements: [{ ...spot, values: ["cheap"] }], price: "0.1" }).problems).toEqual([
      expect.stringContaining("none of the values that exist"),
    ]);
    expect(overlay({ requirements: [spot, { ...spot, operator: "NotIn" }], price: "0.1" }).warnings).toEqual([
      expect.stringContaining("covers nothing"),
    ]);
  });

  it("a NodeOverlay gets a warning while its feature gate is off", () => {
    const { problems, warnings } = review(nodeOverlay({ price: "0.1" }) as JsonObject, undefined, { ...gates, NodeOverlay: false });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("feature gate NodeOverlay is off")]);
  });
});

it("objects of other kinds are accepted", () => {
  expect(review({ kind: "NodeClaim" })).toEqual({ problems: [], warnings: [] });
});

it.for([
  { name: "a price cap and a schedule", annotations: { [CAP]: "12.50", [SCHEDULE]: "0 20 * * 1-5 for 10h" }, problems: [], warnings: [] },
  {
    name: "a price cap with a comma",
    annotations: { [CAP]: "12,50" },
    problems: [`metadata.annotations: ${CAP} is "12,50"; write dollars an hour as a number, such as "12.50"`],
    warnings: [],
  },
  {
    name: "a schedule without a duration",
    annotations: { [SCHEDULE]: "0 20 * * *" },
    problems: [
      `metadata.annotations: ${SCHEDULE} "0 20 * * *" is no schedule; write a cron expression and a duration, such as "0 20 * * 1-5 for 10h"`,
    ],
    warnings: [],
  },
  {
    name: "a name that is almost that of an annotation",
    annotations: { "karpenter-serverless/max-price-per-hr": "12.50" },
    problems: [],
    warnings: [`metadata.annotations: karpenter-serverless/max-price-per-hr has no effect; did you mean ${CAP}?`],
  },
  { name: "an annotation of another tool", annotations: { "example.com/schedule": "x" }, problems: [], warnings: [] },
])("a NodePool with $name is judged by its annotations", ({ annotations, problems, warnings }) => {
  const pool = nodePool({}) as { readonly metadata: object };
  expect(review({ ...pool, metadata: { ...pool.metadata, annotations } } as JsonObject)).toEqual({ problems, warnings });
});
