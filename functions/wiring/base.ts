// The composition root: makes adapters from the environment and hands them to the functions as ports. In: environment
// variables. Out: the deps of each function's entry. It is imported by handlers and by the CLI's commands for real
// clusters, never by a function's other files, and it decides nothing.

import { sqsWakeUps } from "../adapters/aws/wake-up-queue.ts";
import { batchSeconds, type Config, parseConfig, type RequiredVariable } from "../adapters/config.ts";
import { powertoolsLog } from "../adapters/log.ts";
import { emfMetrics } from "../adapters/metrics.ts";
import { dynamoNodeClaimStore } from "../adapters/store/dynamodb-store.ts";

/**
 * The parts of every function: settings, the store, the queues, a log and metrics. They are made once, at cold start,
 * so that a bad deployment fails there with one sentence. No cluster is reached: the functions that need one add
 * wiring/clusters.ts, which costs 2 MB and 100 ms more.
 */
export function wireBase(controller: string, required: readonly RequiredVariable[], environment = process.env) {
  const config: Config = parseConfig(environment, required);
  const log = powertoolsLog({ level: config.logLevel, fields: { controller } });
  const now = Date.now;
  return {
    config,
    controller,
    log,
    now,
    store: dynamoNodeClaimStore({ tableName: config.tableName, clock: now }),
    wakeUps: sqsWakeUps({ queues: config.queues, windowSeconds: batchSeconds(config), now }),
    metrics: emfMetrics(),
    clusters: config.clusters.map(({ name }) => name),
  };
}

export type Base = ReturnType<typeof wireBase>;
