import type { CloudWatchLogsEvent } from "aws-lambda";
import { type ListenDeps, listen } from "./listen.ts";

/** Deliveries of the subscription on each cluster's audit log. */
export const auditEntry =
  (deps: ListenDeps) =>
  (event: CloudWatchLogsEvent): Promise<void> =>
    listen(event, deps);

const LOG_GROUP = /^\/aws\/eks\/(.+)\/cluster$/;

/** The cluster of an EKS log group, if it is one of those that listen. */
export function clusterOfLogGroup(clusters: readonly string[]): (logGroup: string) => string | undefined {
  return (logGroup) => clusters.find((name) => name === LOG_GROUP.exec(logGroup)?.[1]);
}
