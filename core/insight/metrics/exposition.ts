import { DURATION_BUCKETS, isMetricName, type MetricName, metricOf } from "../../ports/metric-registry.ts";
import type { KeptGauge, SumIncrement } from "../../ports/metric-sums.ts";
import { labelText } from "./labels.ts";
import { scrapedGauge } from "./registry.ts";
import type { Sample } from "./sample.ts";
import { BUCKET, COUNT, quantilesOf, SKETCH, SUM } from "./sums.ts";

/**
 * - `openmetrics`: OpenMetrics 1.0, where the name of a counter's family is without `_total`.
 * - `text`: Prometheus' text format 0.0.4.
 */
export type Format = "openmetrics" | "text";

/** What a scraper reads of one cluster; `cluster` is "" for what belongs to no single one. */
export interface ClusterMetrics {
  readonly cluster: string;
  readonly samples: readonly Sample[];
  readonly sums: readonly SumIncrement[];
  readonly gauges: readonly KeptGauge[];
}

type Type = "counter" | "gauge" | "histogram" | "summary";

/** One metric with all of its lines. */
interface Family {
  readonly type: Type;
  readonly help?: string;
  readonly lines: string[];
}

const numberText = (value: number): string => {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
};
/** OpenMetrics writes bounds and quantiles as floats: 1.0. Karpenter's dashboards ask for `quantile="1"`. */
const boundText = (bound: number, format: Format): string =>
  format === "openmetrics" && Number.isInteger(bound) ? `${bound}.0` : numberText(bound);

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(",");
const line = (name: string, labels: string, value: number): string => `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}`;

const fullName = (name: MetricName): string => (metricOf(name).isOfLibrary ? name : `karpenter_${name}`);

function typeOf(name: MetricName): Type {
  const { type, isSummary } = metricOf(name);
  return isSummary ? "summary" : type;
}

/** The lines of the histograms, summaries and counters that some increments of one metric and one label set make. */
function linesOf(name: MetricName, labels: string, parts: ReadonlyMap<string, number>, format: Format): readonly string[] {
  const full = fullName(name);
  const totals = [line(`${full}_sum`, labels, parts.get(SUM) ?? 0), line(`${full}_count`, labels, parts.get(COUNT) ?? 0)];
  switch (typeOf(name)) {
    case "summary": {
      const sketch = new Map([...parts].filter(([part]) => part.startsWith(SKETCH)));
      return [
        ...quantilesOf(sketch).map(([q, value]) => line(full, joined(labels, `quantile="${boundText(q, format)}"`), value)),
        ...totals,
      ];
    }
    case "histogram": {
      const bounds = metricOf(name).buckets ?? DURATION_BUCKETS;
      let seen = 0;
      const buckets = bounds.map((bound) => {
        seen += parts.get(`${BUCKET}${bound}`) ?? 0;
        return line(`${full}_bucket`, joined(labels, `le="${boundText(bound, format)}"`), seen);
      });
      return [...buckets, line(`${full}_bucket`, joined(labels, 'le="+Inf"'), parts.get(COUNT) ?? 0), ...totals];
    }
    default:
      return [...parts.values()].map((value) => line(full, labels, value));
  }
}

/** The parts of each metric and label set. */
function grouped(sums: readonly SumIncrement[]): ReadonlyMap<MetricName, ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const metrics = new Map<MetricName, Map<string, Map<string, number>>>();
  for (const { name, part, labels, value } of sums) {
    // What a newer version has added up.
    if (!isMetricName(name)) continue;
    const ofMetric = metrics.get(name) ?? new Map<string, Map<string, number>>();
    metrics.set(name, ofMetric);
    const parts = ofMetric.get(labels) ?? new Map<string, number>();
    ofMetric.set(labels, parts);
    parts.set(part, (parts.get(part) ?? 0) + value);
  }
  return metrics;
}

/**
 * The metrics of all clusters as one text. Each sample has the label `cluster`, each metric one block, in order of
 * their names.
 */
export function exposition(clusters: readonly ClusterMetrics[], format: Format): string {
  const families = new Map<string, Family>();
  const familyOf = (name: string, type: Type, help?: string): Family => {
    const found = families.get(name) ?? { type, ...(help !== undefined && { help }), lines: [] };
    families.set(name, found);
    return found;
  };
  for (const { cluster, samples, sums, gauges } of clusters) {
    const ofCluster = labelText({ cluster });
    for (const { name, labels, value } of samples) {
      const { help, unprefixed } = scrapedGauge(name);
      const full = unprefixed ? name : `karpenter_${name}`;
      familyOf(full, "gauge", help).lines.push(line(full, joined(ofCluster, labelText(labels)), value));
    }
    for (const { name, labels, value } of gauges.filter((gauge) => isMetricName(gauge.name)))
      familyOf(fullName(name), "gauge").lines.push(line(fullName(name), joined(ofCluster, labels), value));
    for (const [name, sets] of grouped(sums))
      for (const [labels, parts] of sets)
        familyOf(fullName(name), typeOf(name)).lines.push(...linesOf(name, joined(ofCluster, labels), parts, format));
  }
  const blocks = [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { type, help, lines }]) => {
      const head = format === "openmetrics" && type === "counter" ? name.replace(/_total$/, "") : name;
      return [`# TYPE ${head} ${type}`, ...(help === undefined ? [] : [`# HELP ${head} ${help}`]), ...lines].join("\n");
    });
  return `${[...blocks, ...(format === "openmetrics" ? ["# EOF"] : [])].join("\n")}\n`;
}
