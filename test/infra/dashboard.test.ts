import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { afterAll, describe, expect, it } from "vitest";
import { dimensionSets, SENT_METRICS, type SentMetrics } from "#adapters/telemetry/metrics.ts";
import { isMetricName, METRICS, type MetricName, metricOf } from "#core/ports/metric-registry.ts";
import { makeApp } from "#infra/app.ts";
import { FUNCTIONS, type FunctionName, isMade } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";

const outDir = mkdtempSync(join(tmpdir(), "dashboard-"));
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly width: number;
  readonly properties: { readonly title?: string; readonly metrics?: readonly (readonly unknown[])[] };
}

function made(settings: object) {
  const parsed = parseSettings({ clusters: [{ name: "prod" }], dashboard: true, ...settings }, "test");
  const { stack } = makeApp({ settings: parsed, outDir, code: () => Code.fromInline("exports.handler = async () => {};") });
  const found = Object.values(Template.fromStack(stack).findResources("AWS::CloudWatch::Dashboard"));
  const body = found[0]?.["Properties"]["DashboardBody"] as { "Fn::Join": [string, readonly unknown[]] } | undefined;
  const text = (body?.["Fn::Join"][1] ?? []).map((part) => (typeof part === "string" ? part : "REF")).join("");
  const { widgets } = JSON.parse(text || '{"widgets":[]}') as { readonly widgets: readonly Widget[] };
  return { settings: parsed, count: found.length, widgets, name: found[0]?.["Properties"]["DashboardName"] };
}

/** What a widget asks for of Karpenter's metrics: name, statistic, clusters, and the labels that name its lines. */
function searches(widgets: readonly Widget[]) {
  const expressions = widgets.flatMap(({ properties }) =>
    (properties.metrics ?? []).flatMap(([first]) => {
      const { expression = "", label = "" } = (typeof first === "object" && first !== null ? first : {}) as Record<string, string>;
      return expression === "" ? [] : [{ expression, label }];
    }),
  );
  return expressions.map(({ expression, label }) => {
    const found =
      /^SEARCH\('Namespace="Karpenter" MetricName="karpenter_(\w+)"(?: cluster=\(([^)]*)\))?', '(\w+)', 300\)$/.exec(expression) ?? [];
    const [, name = expression, clusters = "", statistic = ""] = found;
    const labels = [...label.matchAll(/PROP\('Dim\.(\w+)'\)/g)].map(([, one = ""]) => one);
    return { name, clusters: clusters.match(/[\w-]+(?=")/g) ?? [], statistic, labels };
  });
}

/** The dimensions that the functions send a metric of a cluster with, each label given. */
const sentWith = (sent: SentMetrics, name: MetricName): readonly (readonly string[])[] =>
  dimensionSets(sent, "prod", name, Object.fromEntries(metricOf(name).labels.map((label) => [label, "x"])));

describe("the dashboard of CloudWatch", () => {
  it("is made on request only", () => {
    expect(made({ dashboard: false }).count).toBe(0);
    expect(made({}).count).toBe(1);
  });

  it("has the region in its name, because names are those of an account", () => {
    expect(JSON.stringify(made({}).name)).toBe('{"Fn::Join":["",["karpenter-serverless-",{"Ref":"AWS::Region"}]]}');
  });

  it.for(SENT_METRICS)("with CLOUDWATCH_METRICS=%s asks only for what the functions send, by dimensions that it is sent with", (sent) => {
    const asked = searches(made({ settings: { CLOUDWATCH_METRICS: sent } }).widgets);
    for (const { name, labels, statistic, clusters } of asked) {
      if (!isMetricName(name)) throw new Error(`${name} is no metric`);
      const sets = sentWith(sent, name).filter((set) => set.includes("cluster"));
      expect(sets, `${name} is not sent`).not.toEqual([]);
      expect(
        sets.some((set) => labels.every((label) => set.includes(label))),
        `${name} by ${labels}`,
      ).toBe(true);
      expect(clusters).toEqual(["prod"]);
      if (metricOf(name).type === "counter") expect(statistic).toBe("Sum");
      else expect(statistic).not.toBe("Sum");
    }
    expect(asked.length).toBeGreaterThan({ essential: 7, counts: 9, all: 13, both: 13, none: -1 }[sent]);
  });

  it("by default shows each essential metric", () => {
    const names = searches(made({}).widgets).map(({ name }) => name);
    const essential = (Object.keys(METRICS) as MetricName[]).filter((name) => metricOf(name).isEssential);
    expect(names.toSorted()).toEqual(essential.toSorted());
  });

  it("of several clusters tells them apart, but for notices of the queue that they share", () => {
    const asked = searches(made({ clusters: [{ name: "a" }, { name: "b" }] }).widgets);
    for (const { name, clusters, labels } of asked) {
      const isShared = name.startsWith("interruption_");
      expect([clusters, labels]).toEqual(isShared ? [[], []] : [["a", "b"], ["cluster"]]);
    }
  });

  it("of forty clusters asks within the length of a search", () => {
    const clusters = Array.from({ length: 40 }, (_, i) => ({ name: `cluster-with-a-long-name-${i}` }));
    for (const { name, clusters: named } of searches(made({ clusters }).widgets)) expect([isMetricName(name), named]).toEqual([true, []]);
  });

  it("shows functions that there are, and fits its 24 columns", () => {
    const { widgets, settings } = made({ settings: { CLOUDWATCH_METRICS: "all" }, scrape: true });
    const functions = JSON.stringify(widgets).match(/karpenter-serverless-[a-z]+(?=")/g) ?? [];
    const there = (Object.keys(FUNCTIONS) as FunctionName[]).filter((name) => isMade(name, settings));
    expect([...new Set(functions)].toSorted()).toEqual(there.map((name) => `karpenter-serverless-${name}`).toSorted());
    for (const { x, width } of widgets) expect(x + width).toBeLessThanOrEqual(24);
  });
});
