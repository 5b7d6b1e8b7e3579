import { randomUUID } from "node:crypto";
import { sqsVisibility } from "#adapters/aws/message-visibility.ts";
import { sqsClient, sqsWakeUps } from "#adapters/aws/wake-up-queue.ts";
import { clusterRecords } from "#adapters/store/cluster-records.ts";
import { metricSums } from "#adapters/store/metric-sums.ts";
import { nodeClaimStore } from "#adapters/store/node-claim-store.ts";
import { dynamoClient, dynamoTable } from "#adapters/store/table-dynamodb.ts";
import { powertoolsLog } from "#adapters/telemetry/log.ts";
import { metricBuffer } from "#adapters/telemetry/metric-buffer.ts";
import { emfMetrics } from "#adapters/telemetry/metrics.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import { COMMIT } from "#settings/commit.ts";
import { type Config, parseConfig, type QueueUrls, type RequiredVariable } from "#settings/config.ts";
import { later } from "./later.ts";
import { servedClusters } from "./served-clusters.ts";

/** The queue that invokes a function. */
const OWN_QUEUES: Readonly<Record<string, keyof QueueUrls>> = {
  provision: "provision",
  lifecycle: "claim",
  disruption: "disruption",
  catalog: "catalog",
  interruption: "interruption",
};

/**
 * What every function has: settings, the store, the queues, a log and metrics. Made once, at cold start, so that a bad
 * deployment fails there with one sentence. It reaches no cluster: functions that do add wiring/clusters.ts, which
 * costs 2 MB and 100 ms more.
 *
 * In: the environment and the adapters. Out: the ports that handlers are given. No code outside of wiring/ chooses an
 * adapter, and nothing is decided here.
 */
export function wireBase(controller: string, required: readonly RequiredVariable[], environment = process.env) {
  const config: Config = parseConfig(environment, required);
  const log = powertoolsLog({ level: config.logLevel, commit: COMMIT, fields: { controller } });
  const now = Date.now;
  // One client for all that is in the table, so that an invocation opens one connection to it.
  const table = dynamoTable({ name: config.tableName, client: dynamoClient(config.region) });
  const sums = metricSums(table);
  const served = servedClusters({ variable: config.clusters, records: clusterRecords(table), log, now });
  const store = nodeClaimStore(table, { clock: now, historyDays: config.historyDays });
  const buffer = config.sumMetrics ? metricBuffer(sums, { log, now }) : undefined;
  const metricsOf = (cluster: string | undefined) => {
    const metrics = emfMetrics(config.cloudWatchMetrics, cluster);
    return buffer?.keeping(cluster ?? "", metrics) ?? metrics;
  };
  const kept = new Map<string | undefined, Metrics>();
  /** Of the only cluster, or of all. */
  const general = (): Metrics => {
    const only = served.only();
    const metrics = kept.get(only) ?? metricsOf(only);
    kept.set(only, metrics);
    return metrics;
  };
  const sqs = sqsClient();
  const ownQueue = OWN_QUEUES[controller];
  const flush = async (): Promise<void> => buffer?.flush();
  return {
    config,
    controller,
    log,
    now,
    later,
    store,
    sums,
    wakeUps: sqsWakeUps({ queues: config.queues, now, client: sqs }),
    changeVisibility: sqsVisibility(sqs, ownQueue && config.queues[ownQueue]),
    /** Of what is about no single cluster, such as a message of the queue that all clusters share. */
    metrics: {
      count: (...counted: Parameters<Metrics["count"]>) => general().count(...counted),
      gauge: (...set: Parameters<Metrics["gauge"]>) => general().gauge(...set),
      observe: (...observed: Parameters<Metrics["observe"]>) => general().observe(...observed),
    },
    metricsOf,
    newReconcileId: randomUUID,
    /** For middy: before an invocation ends, what it has counted is added up for scrapers. */
    flushing: { after: flush, onError: flush },
    served,
    /** Names of the clusters that are worked for. */
    clusters: async (): Promise<readonly string[]> => (await served.all()).flatMap(({ name, state }) => (state === "adding" ? [] : [name])),
  };
}

export type Base = ReturnType<typeof wireBase>;
