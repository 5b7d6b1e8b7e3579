import { MetricUnit, Metrics as PowertoolsMetrics } from "@aws-lambda-powertools/metrics";
import { type MetricName, metricOf } from "#core/ports/metric-registry.ts";
import type { Metrics } from "#core/ports/metrics.ts";

type Unit = (typeof MetricUnit)[keyof typeof MetricUnit];
type Labels = Readonly<Record<string, string>>;

/** Each further dimension costs a metric and helps no dashboard; further labels stay in the line for Logs Insights. */
const MAX_DIMENSIONS = 9;

/** CloudWatch's unit for the suffix of a Prometheus name. */
function unitOf(name: string): Unit {
  if (name.endsWith("_seconds")) {
    return MetricUnit.Seconds;
  }
  return name.endsWith("_bytes") ? MetricUnit.Bytes : MetricUnit.NoUnit;
}

/**
 * Which values CloudWatch makes metrics of, and with which dimensions. What is not sent stays in the log line.
 *
 * - `essential`: what a person on call needs (metric-registry.ts), with the dimension `cluster` alone.
 * - `all`: each value, with the dimension `cluster` and those of its labels.
 * - `both`: the same, and once more without `cluster`, which is a second metric.
 * - `counts`: as `all`, of gauges only the essential ones, because alarms look at them, with `cluster` alone.
 * - `none`: no value.
 */
export const SENT_METRICS = ["essential", "all", "both", "counts", "none"] as const;
export type SentMetrics = (typeof SENT_METRICS)[number];

/**
 * The sets of dimensions under which CloudWatch keeps a value, each of them a metric to pay for. Empty labels are left
 * out, because CloudWatch refuses empty dimensions.
 *
 *     dimensionSets("both", "prod", "nodes_drained_total", { nodepool: "default" })
 *     // [["cluster", "nodepool"], ["nodepool"]]
 *
 * @param cluster undefined for values that belong to no single cluster: they have no label `cluster`
 */
export function dimensionSets(
  sent: SentMetrics,
  cluster: string | undefined,
  name: MetricName,
  labels: Labels,
): readonly (readonly string[])[] {
  const { type, isEssential = false } = metricOf(name);
  const ofCluster = cluster === undefined ? [] : ["cluster"];
  const own = Object.keys(labels).filter((label) => labels[label] !== "");
  const full = [...ofCluster, ...own].slice(0, MAX_DIMENSIONS);
  switch (sent) {
    case "essential":
      return isEssential ? [ofCluster] : [];
    case "all":
      return [full];
    case "both":
      return cluster === undefined ? [full] : [full, own.slice(0, MAX_DIMENSIONS)];
    case "counts":
      if (type === "gauge") return isEssential ? [ofCluster] : [];
      return [full];
    case "none":
      return [];
  }
}

/**
 * Karpenter's metrics as EMF lines on stdout, which CloudWatch turns into metrics of the namespace `Karpenter`. Each
 * value is one line, printed at once, so a killed function loses no value that it has counted.
 * @param cluster undefined for values that belong to no single cluster: they have no label `cluster`
 */
export function emfMetrics(sent: SentMetrics, cluster: string | undefined): Metrics {
  const powertools = new PowertoolsMetrics({ namespace: "Karpenter" });
  // Powertools would add a dimension `service`, which Karpenter's dashboards do not expect.
  powertools.clearDefaultDimensions();
  const put = (name: MetricName, unit: Unit, given: Labels, value: number): void => {
    const { isOfLibrary, isScrapedOnly } = metricOf(name);
    if (!Number.isFinite(value) || isOfLibrary || isScrapedOnly) {
      return;
    }
    const own = Object.entries(given).filter(([, label]) => label !== "");
    const labels = Object.fromEntries(cluster === undefined ? own : [["cluster", cluster] as const, ...own]);
    const [first, ...further] = dimensionSets(sent, cluster, name, given);
    if (first === undefined) {
      writeLine({ ...labels, [`karpenter_${name}`]: value });
      return;
    }
    for (const [label, text] of Object.entries(labels)) {
      if (!first.includes(label)) {
        powertools.addMetadata(label, text);
      }
    }
    powertools.addDimensions(Object.fromEntries(first.map((label) => [label, labels[label] ?? ""])));
    const line = powertools.addMetric(`karpenter_${name}`, unit, value).serializeMetrics();
    // Powertools would warn in each line of labels that are in both sets.
    line._aws.CloudWatchMetrics[0]?.Dimensions.push(...further.map((set) => [...set]));
    writeLine(line);
    powertools.clearMetrics();
    powertools.clearDimensions();
    powertools.clearMetadata();
  };
  return {
    count: (name, labels, value = 1) => put(name, MetricUnit.Count, labels, value),
    gauge: (name, labels, value) => put(name, unitOf(name), labels, value),
    observe: (name, labels, value) => put(name, unitOf(name), labels, value),
  };
}

function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

export interface MetricRecord {
  readonly kind: "count" | "gauge" | "observe";
  readonly name: MetricName;
  readonly labels: Labels;
  readonly value: number;
}

/** Keeps all values in memory, for tests and the lab. */
export function memoryMetrics(): Metrics & {
  readonly records: readonly MetricRecord[];
  /** Sum of a counter over the label values given; labels that are not given are summed over. */
  total(name: string, labels?: Labels): number;
} {
  const records: MetricRecord[] = [];
  const put = (kind: MetricRecord["kind"], name: MetricName, labels: Labels, value: number): void => {
    records.push({ kind, name, labels, value });
  };
  return {
    records,
    count: (name, labels, value = 1) => put("count", name, labels, value),
    gauge: (name, labels, value) => put("gauge", name, labels, value),
    observe: (name, labels, value) => put("observe", name, labels, value),
    total: (name, labels = {}) =>
      records
        .filter((record) => record.kind === "count" && record.name === name)
        .filter((record) => Object.entries(labels).every(([label, text]) => record.labels[label] === text))
        .reduce((sum, record) => sum + record.value, 0),
  };
}
