// The audit function: turns records of a cluster's Kubernetes audit log into wake-ups. In: deliveries of CloudWatch
// Logs. Out: wake-ups on the queues. It reads nothing of the cluster and decides nothing.

import type { CloudWatchLogsEvent } from "aws-lambda";
import { type ListenDeps, listen } from "./listen.ts";

/** Handles the deliveries of the subscription on each cluster's audit log. */
export const auditEntry =
  (deps: ListenDeps) =>
  (event: CloudWatchLogsEvent): Promise<void> =>
    listen(event, deps);

/** What is known of a cluster whose audit log may be subscribed to. */
export interface AuditedCluster {
  readonly name: string;
  readonly sources: readonly string[];
  readonly logGroup?: string;
}

/** Whether the audit log is a source of the cluster's wake-ups. */
export const isAudited = ({ sources }: Pick<AuditedCluster, "sources">): boolean => sources.includes("audit");

/** The cluster whose audit records a log group holds. EKS names the group after the cluster, so a new one is found. */
export function clusterOfLogGroup({
  all,
  find,
}: {
  readonly all: () => Promise<readonly AuditedCluster[]>;
  readonly find: (cluster: string) => Promise<AuditedCluster | undefined>;
}): (logGroup: string) => Promise<string | undefined> {
  const nameIn = (clusters: readonly AuditedCluster[], logGroup: string): string | undefined =>
    clusters.filter(isAudited).find(({ name, logGroup: own = `/aws/eks/${name}/cluster` }) => own === logGroup)?.name;
  return async (logGroup) => {
    const known = nameIn(await all(), logGroup);
    if (known !== undefined) return known;
    // What is not known may be a minute old.
    await find(/^\/aws\/eks\/([^/]+)\/cluster$/.exec(logGroup)?.[1] ?? logGroup);
    return nameIn(await all(), logGroup);
  };
}
