import type { SentMetrics } from "#adapters/telemetry/metrics.ts";
import type { WakeUpSource } from "#settings/cluster-list.ts";

/** What AWS bills a cluster's part of a stack for, over some time. Counts are not rounded. */
export interface Usage {
  /** Of all functions; each call of the webhook is one. */
  readonly invocations: number;
  /** Without what remote calls take. */
  readonly gbSeconds: number;
  /** Remote calls, each times the memory of its function, GB: with a call's seconds, GB-seconds. */
  readonly callGb: number;
  /** Requests to the API server, which its audit log has where it is on. */
  readonly apiRequests: number;
  /** Requests to EC2, SSM, IAM and the Price List, which CloudTrail has as management events. */
  readonly managementRequests: number;
  /** DynamoDB's request units: a strongly consistent read of 4 KB. */
  readonly tableReads: number;
  /** DynamoDB's request units: a write of 1 KB. */
  readonly tableWrites: number;
  /** Messages to SQS. */
  readonly messages: number;
  /** Bytes that go to CloudWatch Logs. */
  readonly logBytes: number;
}

/** How many metrics CloudWatch bills in one hour, by what it is sent. */
export type MetricsInHour = Readonly<Record<SentMetrics, number>>;

/** An hour of one cluster in which no node comes or goes. */
export interface QuietHour {
  readonly nodes: number;
  readonly usage: Usage;
  readonly metrics: MetricsInHour;
}

export const SOURCES = ["sweep", "notify", "audit"] as const satisfies readonly WakeUpSource[];

/** What the simulation measured (test/simulation/bill): the schema of measured.json. */
export interface Measured {
  /** By the number of nodes, ascending from 0. */
  readonly quietHours: readonly QuietHour[];
  /** What one node adds that is launched, filled, emptied and ended, by the source of wake-ups. */
  readonly replacedNode: Readonly<Record<WakeUpSource, Usage>>;
  /** The metrics of an hour in which nodes come and go. */
  readonly metricsOfChange: MetricsInHour;
  /** What of a replaced node is the history's: entries, their bytes, request units of writes (part of replacedNode). */
  readonly historyOfNode: { readonly entries: number; readonly bytes: number; readonly writes: number };
}

/** `f` of each quantity. */
export function mapUsage(f: (quantity: keyof Usage) => number): Usage {
  return {
    invocations: f("invocations"),
    gbSeconds: f("gbSeconds"),
    callGb: f("callGb"),
    apiRequests: f("apiRequests"),
    managementRequests: f("managementRequests"),
    tableReads: f("tableReads"),
    tableWrites: f("tableWrites"),
    messages: f("messages"),
    logBytes: f("logBytes"),
  };
}
