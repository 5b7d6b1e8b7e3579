import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { expect, it } from "vitest";
import { billOf, PRICES, quietUsage, STACK } from "#cli/cost/bill.ts";
import { type CostOptions, cost, fleetOf } from "#cli/cost/cost.ts";
import measured from "#cli/cost/measured.json" with { type: "json" };
import { mapUsage, type Usage } from "#cli/cost/usage.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { makeApp } from "#infra/app.ts";
import { parseSettings } from "#infra/settings.ts";
import { quietHour } from "../../simulation/bill/measure.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { costsPage, IDLE } from "./page.ts";

const GIVEN: CostOptions = {
  ...{ clusters: undefined, nodes: undefined, churn: undefined, sources: undefined, metrics: undefined, endpoints: undefined },
  ...{ alarms: false, json: false, private: false, "call-ms": undefined, "free-tier": false },
};
const billFor = (given: Partial<CostOptions>) => billOf(fleetOf({ ...GIVEN, ...given }), measured);

it("docs/costs.md is what the measured counts and the prices say", async () => {
  await expect(costsPage()).toMatchFileSnapshot("../../../docs/costs.md");
});

it("the measured counts of an idle cluster and of five nodes are those of today's functions, to a tenth", async () => {
  const quietHours = [await quietHour(0), await quietHour(5)];
  for (const { nodes, usage } of quietHours) {
    const kept = quietUsage(measured, nodes);
    for (const quantity of ["invocations", "gbSeconds", "callGb", "tableReads", "tableWrites"] as const) {
      const [least, most] = [kept[quantity] * 0.9 - 1, kept[quantity] * 1.1 + 1];
      // Between two sizes the kept figures are a line, and reads grow in steps.
      const slack = nodes === 0 ? 0 : kept[quantity] * 0.2;
      expect(usage[quantity], `${quantity} of ${nodes} nodes; npm run -s verify -- bill writes them anew`).toBeGreaterThan(least - slack);
      expect(usage[quantity], `${quantity} of ${nodes} nodes; npm run -s verify -- bill writes them anew`).toBeLessThan(most + slack);
    }
  }
});

it("README.md and docs/costs.md say what an idle cluster costs in the words that the figures give", () => {
  // Without line ends, and without the marks of a link.
  const textOf = (file: string): string => {
    const text = readFileSync(join(import.meta.dirname, "../../..", file), "utf8");
    return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll(/\s+/g, " ");
  };
  for (const file of ["README.md", "docs/costs.md"]) expect(textOf(file), file).toContain(IDLE);
});

it("the goals of the bill hold: idle $3, 100 steady nodes $5, 100 nodes that are replaced ten times a day $15", () => {
  expect(billFor({}).perMonth).toBeLessThan(3);
  expect(billFor({ nodes: "100" }).perMonth).toBeLessThan(5);
  expect(billFor({ nodes: "100", churn: "1000%/day" }).perMonth).toBeLessThan(15);
});

it("the parts add up to the month, and the month to the clusters", () => {
  const { perMonth, perCluster, parts } = billFor({ clusters: "20", nodes: "100", churn: "5%/day" });
  expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(perMonth, 9);
  expect(perCluster * 20).toBeCloseTo(perMonth, 9);
});

it.for<[string, Partial<CostOptions>, Partial<CostOptions>]>([
  ["more nodes", { nodes: "100" }, { nodes: "101" }],
  ["more churn", { nodes: "100", churn: "1%/day" }, { nodes: "100", churn: "2%/day" }],
  ["more clusters", { clusters: "2" }, { clusters: "3" }],
  ["all metrics", { nodes: "100" }, { nodes: "100", metrics: "all" }],
  ["alarms", {}, { alarms: true }],
  ["interface endpoints", {}, { endpoints: "12" }],
  ["a private API server", {}, { private: true }],
  ["more endpoints than a private API server needs", { private: true }, { private: true, endpoints: "9" }],
  ["slower remote calls", {}, { "call-ms": "25" }],
  ["no free tier", { "free-tier": true }, {}],
  ["nodes beyond the largest that was measured", { nodes: "400" }, { nodes: "401" }],
])("%s cost more", ([, less, more]) => {
  expect(billFor(more).perMonth).toBeGreaterThan(billFor(less).perMonth);
});

it("a second cluster costs less than the first, because queues are polled once", () => {
  const [one, two] = ["1", "2"].map((clusters) => billFor({ clusters, nodes: "20" }).perMonth) as [number, number];
  expect(two - one).toBeLessThan(one);
});

it("one unit of each quantity costs its list price", () => {
  const hour = (usage: Partial<Usage>) => ({ ...measured.quietHours[0], usage: { ...NONE, ...usage } });
  const NONE: Usage = mapUsage(() => 0);
  const metrics = { essential: 0, all: 0, both: 0, counts: 0, none: 0 };
  const of = (usage: Partial<Usage>) => {
    const hours = [0, 1].map((nodes) => ({ ...hour(usage), nodes, metrics }));
    return billOf(fleetOf(GIVEN), { ...measured, quietHours: hours }).perMonth;
  };
  const added = (usage: Partial<Usage>): number => (of(usage) - of({})) / HOURS_A_MONTH;
  expect(added({ invocations: 1e6 })).toBeCloseTo(0.2, 6);
  expect(added({ gbSeconds: 1e6 })).toBeCloseTo(13.3334, 4);
  expect(added({ callGb: 1e6 })).toBeCloseTo(0.133334, 6);
  expect(added({ tableReads: 1e6 })).toBeCloseTo(0.125, 6);
  expect(added({ tableWrites: 1e6 })).toBeCloseTo(0.625, 6);
  expect(added({ logBytes: 1e9 })).toBeCloseTo(0.5, 6);
});

const outDir = temporaryFolder("cost");

/** Metrics that an alarm looks at: its own, those of its formula, or that of its query. */
function metricsOf(metrics: readonly { readonly MetricStat?: object; readonly Expression?: string }[] | undefined): number {
  return metrics?.filter(({ MetricStat, Expression = "" }) => MetricStat !== undefined || Expression.startsWith("SELECT")).length ?? 1;
}

it("what a stack is said to have is what its template has", () => {
  const { app, stack } = makeApp({
    settings: parseSettings(
      { clusters: [{ name: "c1", sources: ["notify", "sweep"] }], alarmTopicArn: "arn:aws:sns:us-west-2:111122223333:on-call" },
      "test",
    ),
    outDir,
    code: () => Code.fromInline("exports.handler = async () => {};"),
  });
  app.synth();
  const template = Template.fromStack(stack);
  const queues = Object.entries(template.findResources("AWS::SQS::Queue")).filter(([id]) => !/DeadLetters/.test(id));
  const minutely = Object.values(template.findResources("AWS::Scheduler::Schedule")).filter(
    (one) => one["Properties"].ScheduleExpression === "rate(1 minute)",
  );
  expect(STACK).toEqual({
    standardQueues: queues.filter(([, queue]) => queue["Properties"].FifoQueue !== true).length,
    fifoQueues: queues.filter(([, queue]) => queue["Properties"].FifoQueue === true).length,
    alarmMetrics: Object.values(template.findResources("AWS::CloudWatch::Alarm")).reduce(
      (sum, { Properties }) => sum + metricsOf(Properties.Metrics),
      0,
    ),
    sweptFunctions: minutely.length,
    sweepsAnHour: 60,
  });
  expect(PRICES.secret * Object.keys(template.findResources("AWS::SecretsManager::Secret")).length).toBe(billFor({}).parts.secrets);
});

it("JSON has the month, the share of a cluster, the parts and what else costs how much", () => {
  const answer = JSON.parse(cost({ ...GIVEN, clusters: "20", nodes: "100", churn: "5%/day", json: true }));
  expect(answer).toEqual({
    ...billFor({ clusters: "20", nodes: "100", churn: "5%/day" }),
    range: {
      low: billFor({ clusters: "20", nodes: "100", churn: "5%/day", "call-ms": "5" }).perMonth,
      high: billFor({ clusters: "20", nodes: "100", churn: "5%/day", "call-ms": "25" }).perMonth,
    },
    peers: expect.objectContaining({ "Karpenter, two replicas on Fargate": expect.closeTo(1441.6, 0) }),
  });
});

it.for([
  ["churn", "5", '--churn must be a part of the nodes in a time, as in 5%/day or 2%/hour, not "5"'],
  ["sources", "notify,mail", '--sources must be of sweep, notify, audit, not "mail"'],
  ["metrics", "few", '--metrics must be of essential, all, both, counts, none, not "few"'],
  ["nodes", "-1", '--nodes must be a whole number from 0 to 1,000,000, not "-1"'],
  ["clusters", "0", '--clusters must be a whole number from 1 to 1,000,000, not "0"'],
] as const)("--%s %s is refused with one sentence", ([option, value, sentence]) => {
  expect(() => cost({ ...GIVEN, [option]: value })).toThrow(sentence);
});

it.for([
  ["2%/hour", 0.48],
  ["14%/week", 0.02],
  ["30%/month", 0.01],
  ["5%", 0.05],
] as const)("--churn %s is %d of the nodes in a day", ([churn, perDay]) => {
  expect(fleetOf({ ...GIVEN, churn }).churnPerDay).toBeCloseTo(perDay, 12);
});
