import type { emfMetrics, MetricRecord } from "#adapters/telemetry/metrics.ts";

/** A value that CloudWatch has of a metric. */
export interface Point {
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
  /** ms; the start of its period. */
  readonly at: number;
  readonly value: number;
}

interface MetricStat {
  readonly Metric: {
    readonly Namespace: string;
    readonly MetricName: string;
    readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  };
  readonly Period: number;
  readonly Stat: string;
}

/** The properties of AWS::CloudWatch::Alarm that decide when it is raised. */
export interface AlarmDefinition {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: MetricStat["Metric"]["Dimensions"];
  readonly Statistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly MetricStat?: MetricStat;
    readonly Period?: number;
    readonly ReturnData?: boolean;
  }[];
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
}

const MINUTES_5 = 300_000;

const STATISTICS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  SUM: (values) => values.reduce((sum, value) => sum + value, 0),
  Maximum: (values) => Math.max(...values),
  MAX: (values) => Math.max(...values),
  MIN: (values) => Math.min(...values),
};

function statistic(name: string, values: readonly number[]): number | undefined {
  const of = STATISTICS[name];
  if (of === undefined) throw new Error(`statistic ${name} is not known here`);
  return values.length === 0 ? undefined : of(values);
}

/** The dimensions of a queue, whose name only CloudFormation knows, are compared by the queue's logical id. */
function hasDimensions(point: Point, dimensions: MetricStat["Metric"]["Dimensions"] = []): boolean {
  const wanted = dimensions.map(({ Name, Value }) => (typeof Value === "string" ? `${Name}=${Value}` : `queue=${JSON.stringify(Value)}`));
  const given = Object.entries(point.dimensions).map(([name, value]) => `${name}=${value}`);
  if (point.dimensions["queue"] !== undefined) return wanted.length === 1 && isQueue(wanted[0] ?? "", point.dimensions["queue"]);
  return wanted.length === given.length && wanted.every((one) => given.includes(one));
}

const isQueue = (reference: string, queue: string): boolean =>
  reference.toLowerCase().startsWith(`queue={"fn::getatt":["${queue.toLowerCase()}`);

function metricAt({ Metric, Stat, Period }: MetricStat, points: readonly Point[], at: number): number | undefined {
  const values = points.filter(
    (point) =>
      point.at <= at &&
      point.at > at - Math.max(MINUTES_5, Period * 1_000) &&
      point.namespace === Metric.Namespace &&
      point.metric === Metric.MetricName &&
      hasDimensions(point, Metric.Dimensions),
  );
  return statistic(
    Stat,
    values.map(({ value }) => value),
  );
}

/** Evaluates what the template uses of metric math and of Metrics Insights; anything else is an error. */
function expressionAt(text: string, { Metrics = [] }: AlarmDefinition, points: readonly Point[], at: number): number | undefined {
  const select = /^SELECT (MAX|SUM)\((\w+)\) FROM (\w+)$/.exec(text);
  if (select !== null) {
    const [, aggregate = "", metric, namespace] = select;
    const values = points.filter((point) => point.at === at && point.namespace === namespace && point.metric === metric);
    return statistic(
      aggregate,
      values.map(({ value }) => value),
    );
  }
  const [, aggregate = "", list = ""] = /^(MAX|MIN|SUM)\(\[(.*)\]\)$/.exec(text) ?? [];
  const filled = [...list.matchAll(/FILL\((\w+), 0\)(?: \/ (\d+))?(?=, FILL|$)/g)].map(([, id, divisor = "1"]) => {
    const stat = Metrics.find(({ Id }) => Id === id)?.MetricStat;
    if (stat === undefined) throw new Error(`${text} names ${id}, which is no metric`);
    return (metricAt(stat, points, at) ?? 0) / Number(divisor);
  });
  if (filled.length === 0 || filled.length !== list.split(", FILL").length) throw new Error(`${text} is not known here`);
  return statistic(aggregate, filled);
}

function valueAt(alarm: AlarmDefinition, points: readonly Point[], at: number): number | undefined {
  const { Metrics, Namespace = "", MetricName = "", Dimensions, Statistic = "" } = alarm;
  if (Metrics === undefined)
    return metricAt({ Metric: { Namespace, MetricName, ...(Dimensions && { Dimensions }) }, Stat: Statistic, Period: 0 }, points, at);
  const returned = Metrics.find(({ ReturnData }) => ReturnData !== false);
  return returned?.Expression === undefined ? undefined : expressionAt(returned.Expression, alarm, points, at);
}

/**
 * The periods of five minutes, from 0, after which the alarm is raised. A definition with shorter periods is evaluated
 * by five minutes, too: the points say no more. One with longer periods is looked at every five minutes.
 */
export function firesAt(alarm: AlarmDefinition, points: readonly Point[], periods: number): readonly number[] {
  const { Threshold, ComparisonOperator, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const breaches = Array.from({ length: periods }, (_, n) => {
    const value = valueAt(alarm, points, n * MINUTES_5);
    if (value === undefined) return TreatMissingData === "breaching";
    return ComparisonOperator === "LessThanThreshold" ? value < Threshold : value >= Threshold;
  });
  return breaches.flatMap((_, n) => {
    const last = breaches.slice(Math.max(0, n + 1 - EvaluationPeriods), n + 1);
    return last.filter(Boolean).length >= DatapointsToAlarm ? [n] : [];
  });
}

/** What CloudWatch makes of the lines that the functions print for these values. */
export function emfPoints(metrics: ReturnType<typeof emfMetrics>, records: readonly MetricRecord[], at: number): readonly Point[] {
  const lines: string[] = [];
  const write = process.stdout.write;
  process.stdout.write = ((text: string) => lines.push(text) > 0) as typeof process.stdout.write;
  try {
    for (const { kind, name, labels, value } of records) metrics[kind](name as never, labels, value);
  } finally {
    process.stdout.write = write;
  }
  return lines.flatMap((text) => {
    const line = JSON.parse(text) as Record<string, unknown> & {
      _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] };
    };
    return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) =>
        Dimensions.map((set) => ({
          ...{ namespace: Namespace, metric: Name, at, value: Number(line[Name]) },
          dimensions: Object.fromEntries(set.map((label) => [label, String(line[label])])),
        })),
      ),
    );
  });
}
