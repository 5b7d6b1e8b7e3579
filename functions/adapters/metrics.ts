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
  if (name.endsWith("_bytes")) {
    return MetricUnit.Bytes;
  }
  return name.endsWith("_percent") ? MetricUnit.Percent : MetricUnit.NoUnit;
}

/**
 * Karpenter's metrics as EMF lines on stdout, which CloudWatch turns into metrics of the namespace `Karpenter`. Each
 * value is one line, printed at once, so a killed function loses no value that it has counted. Empty labels are left
 * out, because CloudWatch refuses empty dimensions.
 */
export function emfMetrics(): Metrics {
  const powertools = new PowertoolsMetrics({ namespace: "Karpenter" });
  // Powertools would add a dimension `service`, which Karpenter's dashboards do not expect.
  powertools.clearDefaultDimensions();
  const put = (name: string, unit: Unit, labels: Labels, value: number): void => {
    if (!Number.isFinite(value)) {
      return;
    }
    const present = Object.entries(labels).filter(([, label]) => label !== "");
    for (const [label, text] of present.slice(MAX_DIMENSIONS)) {
      powertools.addMetadata(label, text);
    }
    powertools.addDimensions(Object.fromEntries(present.slice(0, MAX_DIMENSIONS)));
    powertools.addMetric(`karpenter_${name}`, unit, value).publishStoredMetrics();
  };
  return {
    count: (name, labels, value = 1) => put(name, MetricUnit.Count, labels, value),
    gauge: (name, labels, value) => put(name, unitOf(name), labels, value),
    observe: (name, labels, value) => put(name, unitOf(name), labels, value),
  };
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
