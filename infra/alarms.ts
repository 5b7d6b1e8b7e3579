import { Duration, type Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, MathExpression, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { MetricName } from "#core/ports/metric-registry.ts";
import { FUNCTIONS, type FunctionName } from "./functions.ts";
import { LOOPING, runawayBound } from "./runaway.ts";

/** An alarm that a person on call needs. docs/operate.md has a runbook under its name. */
interface AlarmSpec {
  readonly metric: IMetric;
  /** What happened, and where to look. */
  readonly says: string;
  readonly threshold: number;
  readonly below?: true;
  /** So many of the last `of` periods. A period has five minutes, that of Runaway an hour. */
  readonly periods: number;
  readonly of?: number;
  /** It looks at a metric that the functions send, which CLOUDWATCH_METRICS=none keeps them from. */
  readonly needsMetrics?: true;
  /** No value is as bad as a bad one: what should always be there is not. */
  readonly missingIsBad?: true;
}

const period = Duration.minutes(5);
/** A metric of the log lines by which a sweep says that it has failed, of all functions together. */
const FAILED_SWEEPS = { namespace: "KarpenterServerless", name: "failed_sweeps" };
const RUNBOOK = "Runbook: docs/operate.md";

/** The value of an essential metric over all clusters, whatever its other dimensions are (CLOUDWATCH_METRICS). */
function ofClusters(statistic: "MAX" | "SUM", name: MetricName): IMetric {
  return new MathExpression({ expression: `SELECT ${statistic}(karpenter_${name}) FROM Karpenter`, usingMetrics: {}, period, label: name });
}

interface Joined {
  readonly names: readonly FunctionName[];
  readonly metricName: string;
  /** An expression of CloudWatch's metric math over the functions' values. */
  readonly join: (values: readonly string[]) => string;
  /** By what the value of a function is divided; 1 when absent. */
  readonly per?: (name: FunctionName) => number;
  /** Five minutes when absent. */
  readonly of?: Duration;
}

/** One metric of some functions. */
function ofFunctions(stack: Stack, { names, metricName, join, per, of: length = period }: Joined): IMetric {
  const metricOf = (name: FunctionName): Metric =>
    new Metric({
      ...{ namespace: "AWS/Lambda", metricName, statistic: "Sum", period: length },
      dimensionsMap: { FunctionName: `${stack.stackName}-${name}` },
    });
  const usingMetrics = Object.fromEntries(names.map((name, i) => [`m${i}`, metricOf(name)]));
  const expression = join(names.map((name, i) => `FILL(m${i}, 0)${per === undefined ? "" : ` / ${per(name)}`}`));
  return new MathExpression({ expression, usingMetrics, period: length, label: metricName });
}

const aggregated =
  (aggregate: "MAX" | "MIN" | "SUM") =>
  (values: readonly string[]): string =>
    `${aggregate}([${values.join(", ")}])`;

/** How often a sum over all dimensions has each value of a cluster: `both` sends it with and without the cluster. */
const copiesSent = (sent: string): number => (sent === "both" ? 2 : 1);

/** The alarms of a stack, by the names of their runbooks. */
function alarmSpecs(
  stack: Stack,
  names: readonly FunctionName[],
  { sent, clusters }: Pick<AlarmOptions, "sent" | "clusters">,
): Readonly<Record<string, AlarmSpec>> {
  const swept = names.filter((name) => FUNCTIONS[name].schedules.length > 0);
  return {
    SweepsMissing: {
      metric: ofFunctions(stack, { names: swept, metricName: "Invocations", join: aggregated("MIN") }),
      says: "A function was not started by its schedule, so work of lost events is not found.",
      threshold: 1,
      below: true,
      periods: 3,
      missingIsBad: true,
    },
    SweepsFail: {
      metric: new Metric({ namespace: FAILED_SWEEPS.namespace, metricName: FAILED_SWEEPS.name, statistic: "Sum", period }),
      says: "Sweeps fail: a cluster cannot be reached, or something there cannot be dealt with.",
      threshold: 3,
      periods: 3,
    },
    FunctionsFail: {
      metric: ofFunctions(stack, { names, metricName: "Errors", join: aggregated("SUM") }),
      says: "Functions end with errors or time-outs.",
      threshold: 1,
      periods: 3,
      of: 4,
    },
    FunctionsThrottled: {
      metric: ofFunctions(stack, { names, metricName: "Throttles", join: aggregated("SUM") }),
      says: "Lambda refuses invocations: the account's concurrency is used up.",
      threshold: 1,
      periods: 2,
      of: 3,
    },
    Runaway: {
      // The largest part of its own bound that a function has reached.
      metric: ofFunctions(stack, {
        ...{ names: LOOPING, metricName: "Invocations", join: aggregated("MAX"), of: Duration.hours(1) },
        per: (name) => runawayBound(name, clusters),
      }),
      says: "A function was invoked more often in an hour than work explains: wake-ups may follow each other without end.",
      threshold: 1,
      periods: 1,
    },
    PodsWait: {
      metric: ofClusters("MAX", "scheduler_unschedulable_pods_count"),
      needsMetrics: true,
      says: "Pods have waited for 15 minutes that no NodePool can hold.",
      threshold: 1,
      periods: 3,
    },
    LaunchesFail: {
      metric: ofClusters("SUM", "cloudprovider_instance_launch_failures_total"),
      needsMetrics: true,
      says: "EC2 cannot give what is asked for.",
      threshold: 10 * copiesSent(sent),
      periods: 3,
    },
    InterruptionsLate: {
      metric: ofClusters("MAX", "interruption_message_queue_duration_seconds"),
      needsMetrics: true,
      says: "A notice of EC2 was dealt with more than a minute after EC2 had sent it.",
      threshold: 60,
      periods: 1,
    },
  };
}

interface AlarmOptions {
  readonly functions: ReadonlyMap<FunctionName, LambdaFunction>;
  readonly topic: ITopic;
  /** The value of CLOUDWATCH_METRICS. */
  readonly sent: string;
  /** How many clusters the stack serves. */
  readonly clusters: number;
}

/** Makes the alarms, which notify the topic. An alarm costs $0.10 a month for each metric that it looks at. */
export function makeAlarms(stack: Stack, { functions, topic, sent, clusters }: AlarmOptions): void {
  for (const [name, { logGroup }] of functions) {
    if (FUNCTIONS[name].schedules.length === 0) continue;
    new MetricFilter(stack, `FailedSweepsOf${name}`, {
      logGroup,
      filterPattern: FilterPattern.stringValue("$.message", "=", "the scheduled pass failed*"),
      metricNamespace: FAILED_SWEEPS.namespace,
      metricName: FAILED_SWEEPS.name,
      metricValue: "1",
    });
  }
  for (const [name, spec] of Object.entries(alarmSpecs(stack, [...functions.keys()], { sent, clusters }))) {
    if (spec.needsMetrics && sent === "none") continue;
    const alarm = new Alarm(stack, name, {
      alarmName: `${stack.stackName}-${name}`,
      alarmDescription: `${spec.says} ${RUNBOOK}, ${name}.`,
      metric: spec.metric,
      threshold: spec.threshold,
      evaluationPeriods: spec.of ?? spec.periods,
      datapointsToAlarm: spec.periods,
      comparisonOperator: spec.below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: spec.missingIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
}

/** An alarm for each dead-letter queue. */
export function watchDeadLetters(queues: readonly Queue[], topic: ITopic): void {
  for (const queue of queues) {
    const alarm = new Alarm(queue, "NotEmpty", {
      alarmDescription: `Messages were moved to a dead-letter queue: read a message, fix its cause, and start a redrive. Sweeps have retried the work meanwhile. ${RUNBOOK}, DeadLetters.`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", period: Duration.minutes(1) }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(topic));
  }
}
