import { DeleteItemCommand, type DynamoDBClient, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { type ClusterRecord, readClusterRecord } from "#core/model/cluster-record.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import { ConflictError } from "#core/ports/errors.ts";
import { calling, conditionFailure, fromItem, type Table, type TableItem, toItem, toValues } from "./dynamodb-table.ts";

const PARTITION = "clusters";
const CLUSTER = "cluster#";
/** API servers wait a second for an answer, and what was known before is good for longer. */
const TIMEOUT_MS = 2_000;

/**
 * One item of some 500 bytes for each cluster, all in the partition `clusters` with the sort keys `cluster#NAME`, so
 * that one query reads them. Reads are eventually consistent, at half the price: a cluster that was just added is read
 * some seconds later.
 */
export function dynamoClusterRecords({
  tableName,
  client,
}: {
  readonly tableName: string;
  readonly client: DynamoDBClient;
}): ClusterRecords {
  const table: Table = { client, name: tableName };
  return {
    async list(setAside = () => undefined) {
      const items: TableItem[] = [];
      let ExclusiveStartKey: ReturnType<typeof toItem> | undefined;
      do {
        const input = {
          TableName: tableName,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: toValues({ ":pk": PARTITION }),
          ...(ExclusiveStartKey && { ExclusiveStartKey }),
        };
        const abortSignal = AbortSignal.timeout(TIMEOUT_MS);
        const page = await calling(table, () => client.send(new QueryCommand(input), { abortSignal }));
        items.push(...(page.Items ?? []).map(fromItem));
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined);
      return items.flatMap(({ sk, ...stored }) => {
        const record = readClusterRecord(sk.slice(CLUSTER.length), stored);
        if (!("problem" in record)) return [record];
        setAside(record);
        return [];
      });
    },
    async put(record) {
      const { name, version, ...rest } = record;
      const next: ClusterRecord = { ...record, version: version + 1 };
      try {
        await calling(table, () =>
          client.send(
            new PutItemCommand({
              TableName: tableName,
              Item: toItem({ pk: PARTITION, sk: CLUSTER + name, ...rest, version: version + 1 }),
              ExpressionAttributeNames: { "#version": "version" },
              ...(version === 0
                ? { ConditionExpression: "attribute_not_exists(#version)" }
                : { ConditionExpression: "#version = :version", ExpressionAttributeValues: toValues({ ":version": version }) }),
              ReturnValuesOnConditionCheckFailure: "ALL_OLD",
            }),
          ),
        );
      } catch (error) {
        const failure = conditionFailure(error);
        if (failure === undefined) throw error;
        // The SDK repeats a write whose answer was lost; the first one is then in the way of the second.
        const found = failure.item && readClusterRecord(name, failure.item);
        if (JSON.stringify(found) !== JSON.stringify(readClusterRecord(name, { ...next })))
          throw new ConflictError(`the record of cluster ${name} in table ${tableName} was changed by another run`, { cause: error });
      }
      return next;
    },
    async remove(name) {
      const Key = toItem({ pk: PARTITION, sk: CLUSTER + name });
      await calling(table, () => client.send(new DeleteItemCommand({ TableName: tableName, Key })));
    },
  };
}
