// The audit function: turns records of a cluster's Kubernetes audit log into wake-ups. In: deliveries of CloudWatch
// Logs. Out: wake-ups on the queues. It reads nothing of the cluster and decides nothing.

import type { CloudWatchLogsEvent } from "aws-lambda";
import { type ListenDeps, listen } from "./listen.ts";

/** Handles the deliveries of the subscription on each cluster's audit log. */
export const auditEntry =
  (deps: ListenDeps) =>
  (event: CloudWatchLogsEvent): Promise<void> =>
    listen(event, deps);

/** The cluster whose audit records a log group holds, if it is one of `clusters`. */
export function clusterOfLogGroup(
  clusters: readonly { readonly name: string; readonly logGroup?: string }[],
): (logGroup: string) => string | undefined {
  const names = new Map(clusters.map(({ name, logGroup = `/aws/eks/${name}/cluster` }) => [logGroup, name]));
  return (logGroup) => names.get(logGroup);
}
