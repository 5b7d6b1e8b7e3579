import type { SentMetrics } from "#adapters/telemetry/metrics.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import type { WakeUpSource } from "#settings/cluster-list.ts";
import { type Measured, type MetricsInHour, mapUsage, type Usage } from "./usage.ts";

/** What `cost` computes a bill for. */
export interface Fleet {
  /** Clusters of one stack. */
  readonly clusters: number;
  /** Nodes of each cluster. */
  readonly nodes: number;
  /** Which part of its nodes a cluster replaces in a day: 0.05 for 5 %. */
  readonly churnPerDay: number;
  readonly sources: readonly WakeUpSource[];
  readonly metrics: SentMetrics;
  /** Whether the stack has an SNS topic for alarms (`alarmTopicArn`); it has no alarms otherwise. */
  readonly hasAlarms: boolean;
  /** Interface endpoints of a VPC without a way out, times their availability zones. */
  readonly endpoints: number;
  /** How long a remote call takes, ms, as if calls were made one after the other. */
  readonly callMs: number;
  /** Whether what AWS gives each account for nothing is taken off: the account uses these services for nothing else. */
  readonly freeTier: boolean;
}

/** Dollars a month, by the service that AWS bills. */
export interface Parts {
  readonly lambda: number;
  readonly dynamodb: number;
  readonly sqs: number;
  readonly eventbridge: number;
  readonly logs: number;
  readonly metrics: number;
  readonly alarms: number;
  readonly secrets: number;
  readonly endpoints: number;
}

export interface CostBill {
  readonly perMonth: number;
  readonly perCluster: number;
  readonly parts: Parts;
}

const DAYS_A_MONTH = HOURS_A_MONTH / 24;

/** Call times that no account has measured yet, ms: what is assumed, and the ends of the range that `cost` prints. */
export const CALL_MS = { usual: 10, low: 5, high: 25 };

/**
 * AWS's list prices of us-east-1 and us-west-2, USD, as of 2026-11: the pages /lambda/pricing, /dynamodb/pricing (on
 * demand), /sqs/pricing, /eventbridge/pricing, /cloudwatch/pricing, /secrets-manager/pricing and /privatelink/pricing
 * of aws.amazon.com.
 */
export const PRICES = {
  invocation: 0.2e-6,
  /** A GB and second on arm64. */
  gbSecond: 1.33334e-5,
  tableRead: 0.125e-6,
  tableWrite: 0.625e-6,
  queueRequest: 0.4e-6,
  fifoRequest: 0.5e-6,
  scheduledRun: 1e-6,
  logByte: 0.5 / 1e9,
  /** A metric and month, of the first 10,000. */
  metric: 0.3,
  /** A metric that an alarm looks at, and month. */
  alarmMetric: 0.1,
  secret: 0.4,
  endpointHour: 0.01,
};

/**
 * What AWS bills no account for, each month and without an end (the same pages): of Lambda, SQS, Scheduler, Logs and
 * CloudWatch. DynamoDB on demand, Secrets Manager and endpoints have nothing of the kind.
 */
const FREE = {
  invocations: 1e6,
  gbSeconds: 400_000,
  queueRequests: 1e6,
  scheduledRuns: 14e6,
  logBytes: 5e9,
  metrics: 10,
  alarmMetrics: 10,
};

/** What a stack has, whatever the number of its clusters: a test compares it with the template. */
export const STACK = { standardQueues: 4, fifoQueues: 1, alarmMetrics: 29, sweptFunctions: 4, sweepsAnHour: 60 };

/**
 * What Lambda asks an empty queue: five pollers, each waits for 20 s. Two would do for a queue without a maximum of
 * concurrency, which AWS does not promise.
 */
const POLLS_AN_HOUR = 5 * 180;
/** Sending, receiving and deleting; batches make it fewer. */
const REQUESTS_A_MESSAGE = 3;
/** A sweep of several clusters only sends a message for each. */
const FAN_OUT_GB_SECONDS = 0.1 * 1.5;
/** That of provision waits for its moment in the lifecycle's queue, and the lifecycle passes it on. */
const PASSING_ON_GB_SECONDS = 0.06 * 1;

/** An hour of a cluster of so many nodes: on the line between the two measured sizes that are next to it. */
export function quietUsage({ quietHours }: Pick<Measured, "quietHours">, nodes: number): Usage {
  const next = quietHours.findIndex((hour) => hour.nodes >= nodes);
  const upper = quietHours[next < 0 ? quietHours.length - 1 : Math.max(next, 1)];
  const lower = quietHours[next < 0 ? quietHours.length - 2 : Math.max(next, 1) - 1];
  if (upper === undefined || lower === undefined) throw new Error("two sizes at least must be measured");
  const share = (nodes - lower.nodes) / (upper.nodes - lower.nodes);
  return mapUsage((quantity) => lower.usage[quantity] + share * (upper.usage[quantity] - lower.usage[quantity]));
}

/** What AWS bills in a month for a stack. */
export function billOf(fleet: Fleet, measured: Measured): CostBill {
  const { clusters, nodes, churnPerDay, sources } = fleet;
  const source = (["notify", "audit"] as const).find((one) => sources.includes(one)) ?? "sweep";
  const quiet = quietUsage(measured, nodes);
  const node = measured.replacedNode[source];
  const replacedADay = nodes * churnPerDay;
  const used = mapUsage((quantity) => clusters * (HOURS_A_MONTH * quiet[quantity] + DAYS_A_MONTH * replacedADay * node[quantity]));
  const runs = HOURS_A_MONTH * STACK.sweptFunctions * STACK.sweepsAnHour;
  const fansOut = clusters > 1;
  const passedOn = fansOut ? (clusters * runs) / STACK.sweptFunctions : 0;
  const messages = used.messages + (fansOut ? clusters * runs : 0) + passedOn;
  const polls = HOURS_A_MONTH * POLLS_AN_HOUR;
  const billed = (quantity: keyof typeof FREE, amount: number): number => (fleet.freeTier ? Math.max(0, amount - FREE[quantity]) : amount);
  const invocations = used.invocations + (fansOut ? runs : 0) + passedOn;
  const ownGbSeconds = used.gbSeconds + (used.callGb * fleet.callMs) / 1_000;
  const gbSeconds = ownGbSeconds + (fansOut ? runs * FAN_OUT_GB_SECONDS : 0) + passedOn * PASSING_ON_GB_SECONDS;
  const parts: Parts = {
    lambda: billed("invocations", invocations) * PRICES.invocation + billed("gbSeconds", gbSeconds) * PRICES.gbSecond,
    dynamodb: used.tableReads * PRICES.tableRead + used.tableWrites * PRICES.tableWrite,
    sqs:
      billed("queueRequests", STACK.standardQueues * polls + messages * REQUESTS_A_MESSAGE) * PRICES.queueRequest +
      STACK.fifoQueues * polls * PRICES.fifoRequest,
    eventbridge: billed("scheduledRuns", runs) * PRICES.scheduledRun,
    logs: billed("logBytes", used.logBytes) * PRICES.logByte,
    metrics: billed("metrics", clusters * metricsInMonth(measured, fleet)) * PRICES.metric,
    alarms: (fleet.hasAlarms ? billed("alarmMetrics", STACK.alarmMetrics) : 0) * PRICES.alarmMetric,
    secrets: (sources.includes("notify") ? 1 : 0) * PRICES.secret,
    endpoints: fleet.endpoints * HOURS_A_MONTH * PRICES.endpointHour,
  };
  const perMonth = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { perMonth, perCluster: perMonth / clusters, parts };
}

/** What AWS bills in a month when remote calls take as little, and as much, as they well may. */
export function rangeOf(fleet: Fleet, measured: Measured): { readonly low: number; readonly high: number } {
  const at = (callMs: number): number => billOf({ ...fleet, callMs }, measured).perMonth;
  return { low: at(CALL_MS.low), high: at(CALL_MS.high) };
}

/** Metrics of a cluster: CloudWatch bills each by the hours in which it got a value. */
function metricsInMonth({ quietHours, metricsOfChange }: Measured, { nodes, churnPerDay, metrics }: Fleet): number {
  const of = (hour: MetricsInHour): number => hour[metrics];
  const quiet = quietHours.findLast((hour) => hour.nodes <= nodes);
  const hoursOfChange = Math.min(1, (nodes * churnPerDay) / 24);
  return (1 - hoursOfChange) * (quiet === undefined ? 0 : of(quiet.metrics)) + hoursOfChange * of(metricsOfChange);
}
