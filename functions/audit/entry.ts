// The audit function: turns records of a cluster's Kubernetes audit log into wake-ups. In: deliveries of CloudWatch
// Logs. Out: wake-ups on the queues. It reads nothing of the cluster and decides nothing.

import type { CloudWatchLogsEvent } from "aws-lambda";
import { type ListenDeps, listen } from "./listen.ts";

/** Handles the deliveries of the subscription on each cluster's audit log. */
export const auditEntry =
  (deps: ListenDeps) =>
  (event: CloudWatchLogsEvent): Promise<void> =>
    listen(event, deps);

const LOG_GROUP = /^\/aws\/eks\/(.+)\/cluster$/;

/** The cluster that an EKS log group belongs to, if it is one of `clusters`. */
export function clusterOfLogGroup(clusters: readonly string[]): (logGroup: string) => string | undefined {
  return (logGroup) => clusters.find((name) => name === LOG_GROUP.exec(logGroup)?.[1]);
}
