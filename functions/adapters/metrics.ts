import { MetricUnit, Metrics as PowertoolsMetrics } from "@aws-lambda-powertools/metrics";
import type { Metrics } from "../../core/ports/metrics.ts";

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
 * - `all`: each value, with the dimension `cluster` and those of its labels.
 * - `both`: the same, and once more without `cluster`, which is a second metric.
 * - `counts`: as `all`, without gauges.
 * - `none`: no value.
 */
export type SentMetrics = "all" | "both" | "counts" | "none";

/**
 * Karpenter's metrics as EMF lines on stdout, which CloudWatch turns into metrics of the namespace `Karpenter`. Each
 * value is one line, printed at once, so a killed function loses no value that it has counted. Empty labels are left
 * out, because CloudWatch refuses empty dimensions.
 * @param cluster undefined for values that belong to no single cluster: they have no label `cluster`
 */
export function emfMetrics(sent: SentMetrics, cluster: string | undefined): Metrics {
  const powertools = new PowertoolsMetrics({ namespace: "Karpenter" });
  // Powertools would add a dimension `service`, which Karpenter's dashboards do not expect.
  powertools.clearDefaultDimensions();
  const put = (name: string, unit: Unit, given: Labels, value: number, isSent: boolean): void => {
    if (!Number.isFinite(value)) {
      return;
    }
    const own = Object.entries(given).filter(([, label]) => label !== "");
    const labels = cluster === undefined ? own : [["cluster", cluster] as const, ...own];
    if (!isSent) {
      writeLine({ ...Object.fromEntries(labels), [`karpenter_${name}`]: value });
      return;
    }
    for (const [label, text] of labels.slice(MAX_DIMENSIONS)) {
      powertools.addMetadata(label, text);
    }
    powertools.addDimensions(Object.fromEntries(labels.slice(0, MAX_DIMENSIONS)));
    const line = powertools.addMetric(`karpenter_${name}`, unit, value).serializeMetrics();
    if (sent === "both" && cluster !== undefined) {
      // Powertools would warn in each line of labels that are in both sets.
      line._aws.CloudWatchMetrics[0]?.Dimensions.push(own.slice(0, MAX_DIMENSIONS).map(([label]) => label));
    }
    writeLine(line);
    powertools.clearMetrics();
    powertools.clearDimensions();
    powertools.clearMetadata();
  };
  const isAnySent = sent !== "none";
  return {
    count: (name, labels, value = 1) => put(name, MetricUnit.Count, labels, value, isAnySent),
    gauge: (name, labels, value) => put(name, unitOf(name), labels, value, isAnySent && sent !== "counts"),
    observe: (name, labels, value) => put(name, unitOf(name), labels, value, isAnySent),
  };
}

function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

export interface MetricRecord {
  readonly kind: "count" | "gauge" | "observe";
  readonly name: string;
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
  const put = (kind: MetricRecord["kind"], name: string, labels: Labels, value: number): void => {
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
