// What status and doctor read of an installation.
// In: questions about an account and a cluster. Out: answers. Nothing behind these ports changes anything, and what may
// not be read rejects with one sentence.

import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import type { ClusterApi, InstallPorts, Stacks } from "../install/ports.ts";

/** A line of a function's log that tells of an error. */
export interface LoggedError {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message: string;
}

/** A metric of CloudWatch, in points of one minute. */
export interface MetricQuestion {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: "Sum" | "Maximum";
  /** From when on, ms. */
  readonly since: number;
}

export interface MetricPoint {
  readonly at: number;
  readonly value: number;
}

/** Questions about a stack that runs. */
export interface Inspector {
  /** The latest since a time; undefined when there is none. */
  readonly lastError: (functionName: string, since: number) => Promise<LoggedError | undefined>;
  /** Messages that can be received. */
  readonly depth: (queueUrl: string) => Promise<number>;
  readonly isScheduleEnabled: (schedule: string) => Promise<boolean>;
  /** Oldest first. */
  readonly metric: (question: MetricQuestion) => Promise<readonly MetricPoint[]>;
  /** A quota of EC2, in its own unit. */
  readonly ec2Quota: (code: string) => Promise<number>;
  /** As of when the table has instance types and prices; undefined when the catalog function has written none yet. */
  readonly pricesAsOf: (table: string) => Promise<string | undefined>;
  /** The HTTP status of a GET. */
  readonly get: (url: string) => Promise<number>;
}

export interface InstallationPorts extends Pick<InstallPorts, "account" | "secret"> {
  readonly stacks: Pick<Stacks, "describe" | "resources" | "metadata">;
  readonly clusterRecords: (table: string) => Pick<ClusterRecords, "list">;
  readonly clusterApi: (cluster: string) => Pick<ClusterApi, "observe" | "list" | "find">;
  readonly inspector: Inspector;
  readonly now: () => number;
}
