import { dynamoClusterRecords } from "#adapters/store/dynamodb-clusters.ts";
import { dynamoClient } from "#adapters/store/dynamodb-table.ts";
import type { Log } from "#core/ports/log.ts";
import type { Config } from "#settings/config.ts";
import { type ServedClusters, servedClusters } from "./served-clusters.ts";

/** The clusters of a function that needs nothing else of the table, and loads its client when a cluster was added. */
export function wireAddedClusters({ clusters: variable, tableName }: Pick<Config, "clusters" | "tableName">, log: Log): ServedClusters {
  return servedClusters({ variable, records: dynamoClusterRecords({ tableName, client: dynamoClient() }), log, now: Date.now });
}
