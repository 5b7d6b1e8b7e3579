import { readFileSync } from "node:fs";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SCRAPED } from "#core/insight/metrics/registry.ts";
import { METRICS } from "#core/ports/metric-registry.ts";
import { makeApp } from "#infra/app.ts";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const outDir = temporaryFolder("alarms");

const templateFor = (settings: Readonly<Record<string, string>> = {}): Template => {
  const { stack } = makeApp({
    settings: parseSettings({ clusters: [{ name: "c1" }], alarmTopicArn: "arn:aws:sns:us-west-2:111122223333:on-call", settings }, "test"),
    outDir,
    code: () => Code.fromInline("exports.handler = async () => {};"),
  });
  return Template.fromStack(stack);
};
const template = templateFor();

interface AlarmProperties {
  readonly AlarmName?: string;
  readonly AlarmDescription: string;
  readonly TreatMissingData: string;
  readonly ComparisonOperator: string;
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: { readonly Dimensions: readonly { Value: string }[] } };
  }[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly AlarmActions: readonly string[];
}
const alarms: readonly AlarmProperties[] = Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(
  ({ Properties }) => Properties,
);
const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `karpenter-serverless-${name}`);
const runbooks = [...readFileSync("docs/operate.md", "utf8").matchAll(/^### (\w+)$/gm)].map(([, name]) => name ?? "");
const rules = (
  parse(readFileSync("infra/grafana/alerts.yaml", "utf8")) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap(({ rules: own }) => own);
const dashboard = readFileSync("infra/grafana/karpenter-serverless.json", "utf8");

/** Names of our metrics in PromQL, without the suffixes of histograms. */
const metricsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:karpenter|controller_runtime)_[a-z_]+/g)].map(([name]) =>
    name.replace(/^karpenter_/, "").replace(/_(bucket|count|sum)$/, ""),
  );
const KNOWN = new Set([...Object.keys(METRICS), ...Object.keys(SCRAPED)].map((name) => name.replace(/_(bucket|count|sum)$/, "")));

describe("alarms", () => {
  it("each alarm of CloudWatch and each rule of Prometheus has a runbook, and each runbook an alarm", () => {
    const told = alarms.map(({ AlarmDescription }) => /Runbook: docs\/operate\.md, (\w+)\.$/.exec(AlarmDescription)?.[1] ?? "none");
    const names = new Set([...told, ...rules.map(({ alert }) => alert)]);
    expect([...names].sort()).toEqual([...runbooks].sort());
  });

  it("each alarm tells the topic", () => {
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual(["arn:aws:sns:us-west-2:111122223333:on-call"]);
  });

  it("missing sweeps raise the alarm also where there is no value at all, and look at each function that is swept", () => {
    const { Metrics = [], TreatMissingData, ComparisonOperator } = named("SweepsMissing") ?? ({} as AlarmProperties);
    expect({ TreatMissingData, ComparisonOperator }).toEqual({ TreatMissingData: "breaching", ComparisonOperator: "LessThanThreshold" });
    const looked = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions.map(({ Value }) => Value) ?? []);
    const swept = (Object.keys(FUNCTIONS) as FunctionName[]).filter((name) => FUNCTIONS[name].schedules.length > 0);
    expect(looked).toEqual(swept.map((name) => `karpenter-serverless-${name}`));
  });

  it.for(["PodsWait", "LaunchesFail", "InterruptionsLate"])("%s looks at a metric that is sent by default", (name) => {
    const expression = named(name)?.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression ?? "";
    const [, metric = ""] = /^SELECT (?:MAX|SUM)\(karpenter_(\w+)\) FROM Karpenter$/.exec(expression) ?? [];
    expect((METRICS as Readonly<Record<string, { isEssential?: true }>>)[metric]?.isEssential).toBe(true);
  });

  it("with CLOUDWATCH_METRICS=none no alarm looks at what is not sent", () => {
    const silent = Object.values(templateFor({ CLOUDWATCH_METRICS: "none" }).findResources("AWS::CloudWatch::Alarm"));
    const named = (all: readonly object[]): readonly string[] => all.flatMap(({ AlarmName }: { AlarmName?: string }) => AlarmName ?? []);
    const missing = named(alarms).filter((name) => !named(silent.map(({ Properties }) => Properties)).includes(name));
    expect(missing.map((name) => name.replace("karpenter-serverless-", ""))).toEqual(["PodsWait", "LaunchesFail", "InterruptionsLate"]);
  });

  it("the log line of a failed sweep is the one that the functions write", () => {
    const filters = Object.values(template.findResources("AWS::Logs::MetricFilter"));
    expect(filters).toHaveLength(4);
    const source = readFileSync("functions/shared/cluster-entry.ts", "utf8");
    for (const { Properties } of filters) {
      const [, message = "none"] = /"([^"*]+)\*"/.exec(Properties.FilterPattern) ?? [];
      expect(source).toContain(`"${message}`);
    }
  });

  it("each rule of Prometheus has a situation in which promtool sees it raised, and one in which it is quiet", () => {
    const { tests } = parse(readFileSync("infra/grafana/alerts.test.yaml", "utf8")) as {
      tests: { input_series: object[]; alert_rule_test: { alertname: string; exp_alerts?: object[] }[] }[];
    };
    const raised = tests.flatMap(({ alert_rule_test: all }) =>
      all.flatMap(({ alertname, exp_alerts = [] }) => (exp_alerts.length > 0 ? [alertname] : [])),
    );
    expect(raised.sort()).toEqual(rules.map(({ alert }) => alert).sort());
    // Each has a second cluster or NodePool that is not named, or a time at which nothing is raised.
    for (const { input_series: series, alert_rule_test: all } of tests) {
      const named = all.flatMap(({ exp_alerts = [] }) => exp_alerts).length;
      expect(series.length > named || all.some(({ exp_alerts = [] }) => exp_alerts.length === 0)).toBe(true);
    }
  });

  it("dashboard and rules name only metrics that there are", () => {
    const used = [...metricsIn(dashboard), ...rules.flatMap(({ expr }) => metricsIn(expr))].filter((name) => name !== "serverless");
    expect(used.length).toBeGreaterThan(20);
    expect([...new Set(used)].filter((name) => !KNOWN.has(name))).toEqual([]);
  });
});
