import { clusterRecords } from "#adapters/store/cluster-records.ts";
import { dynamoClient, dynamoTable } from "#adapters/store/table-dynamodb.ts";
import type { Log } from "#core/ports/log.ts";
import type { Config } from "#settings/config.ts";
import { type ServedClusters, servedClusters } from "./served-clusters.ts";

/** The clusters of a function that needs nothing else of the table, and loads its client when a cluster was added. */
export function wireAddedClusters({ clusters: variable, tableName }: Pick<Config, "clusters" | "tableName">, log: Log): ServedClusters {
  const table = dynamoTable({ name: tableName, client: dynamoClient() });
  return servedClusters({ variable, records: clusterRecords(table), log, now: Date.now });
}
