import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { SCRAPED } from "#core/insight/metrics/registry.ts";
import { METRICS, type MetricName, metricOf } from "#core/ports/metric-registry.ts";
import { readTree } from "../architecture/source-tree.ts";

const PAGE = readFileSync("docs/metrics-and-events.md", "utf8").split("\n## Events")[0] ?? "";
const TYPES = { C: "counter", G: "gauge", O: "histogram" } as const;
/** Names of metrics under `karpenter_` in Karpenter v1.15.0 and its AWS provider v1.15.2. */
const KARPENTERS = 79;

const backticked = (cell: string) => [...cell.replaceAll(/\([^)]*\)/g, "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");

/** Rows of the table of metrics that are emitted: name, ours, type, labels. */
const emitted = [...PAGE.matchAll(/^\| `(\w+)`(?: \(([a-z, ]+)\))? \| ([CGO]) \| ([^|]*) \|/gm)].map(
  ([, name = "", marks = "", type, labels = ""]) => [
    name,
    {
      ...{ type: TYPES[type as keyof typeof TYPES], labels: backticked(labels) },
      ...(marks.includes("ours") && { isOurs: true }),
      ...(marks.includes("essential") && { isEssential: true }),
      ...(marks.includes("library") && { isOfLibrary: true }),
      ...(marks.includes("scraped") && { isScrapedOnly: true }),
    },
  ],
);
/** Rows of the table of gauges that are worked out for a scrape: name, labels. */
const SCRAPING = PAGE.slice(PAGE.indexOf("| gauge (without"), PAGE.indexOf("### Karpenter's metrics that are not emitted"));
const scraped = [...SCRAPING.matchAll(/^\| `(\w+)` \| ([^|]*) \|/gm)].map(
  ([, name = "", labels = ""]) => [name, backticked(labels)] as const,
);
const absent = [...PAGE.replace(SCRAPING, "").matchAll(/^\| `(\w+)` \| (?![CGO] \|)(.+) \|$/gm)]
  .filter(([, name = ""]) => name.includes("_"))
  .map(([, name]) => name);

/** What the page says of each metric of the registry; buckets are the code's alone. */
const told = Object.fromEntries(
  (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { buckets: _buckets, isSummary: _isSummary, staysMs: _staysMs, ...rest } = metricOf(name);
    return [name, rest];
  }),
);

it("the page of metrics names each metric of the registry with its type and labels, and no other", () => {
  expect(Object.fromEntries(emitted)).toEqual(told);
  expect(emitted).toHaveLength(Object.keys(METRICS).length);
});

it("the page of metrics names each gauge that is worked out for a scrape with its labels, and no other", () => {
  expect(Object.fromEntries(scraped)).toEqual(Object.fromEntries(Object.entries(SCRAPED).map(([name, { labels }]) => [name, labels])));
});

it("each of Karpenter's metrics is emitted or has the reason why it is not, once", () => {
  const ofRegistry = Object.keys(METRICS).filter(
    (name) => !metricOf(name as MetricName).isOurs && !metricOf(name as MetricName).isOfLibrary,
  );
  const karpenters = [...ofRegistry, ...Object.keys(SCRAPED).filter((name) => !name.startsWith("operator_"))];
  const all = [...karpenters, ...absent];
  expect(new Set(all).size).toBe(all.length);
  expect(all).toHaveLength(KARPENTERS);
  expect(PAGE).toContain(`Of Karpenter's ${KARPENTERS} names ${karpenters.length} are in the tables above.`);
});

it("code emits each metric of the registry", () => {
  const sources = [...readTree(["adapters", "core", "functions"])]
    .filter(([path]) => !path.endsWith("metric-registry.ts"))
    .map(([, text]) => text);
  const silent = Object.keys(METRICS).filter((name) => !sources.some((text) => text.includes(`"${name}"`)));
  expect(silent).toEqual([]);
});

it("the command of the page makes the token of a cluster", () => {
  const [line = ""] = /printf %s karpenter-serverless\/NAME \| openssl.*/.exec(PAGE) ?? [];
  const made = execFileSync("sh", ["-c", line.replace("NAME", "prod")], { encoding: "utf8", env: { ...process.env, METRICS_TOKEN: "s3" } });
  expect(made.trim()).toBe(clusterToken("s3", "prod"));
});
