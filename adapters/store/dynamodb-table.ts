import { setTimeout as sleep } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type KeysAndAttributes,
  QueryCommand,
  type QueryCommandInput,
  ResourceNotFoundException,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { ConflictError, RefusedError, ThrottledError } from "#core/ports/errors.ts";

/** A plain JavaScript item; keys are `pk` and `sk`. */
export type TableItem = Readonly<Record<string, unknown>> & { readonly pk: string; readonly sk: string };
type Attributes = Record<string, AttributeValue>;

export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

/** A client whose calls end well within a function's time-out: 1 s to connect, 5 s per request, 4 attempts. */
export function dynamoClient(region?: string): DynamoDBClient {
  return new DynamoDBClient({
    ...(region !== undefined && { region }),
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 },
  });
}

/**
 * Records are stored deflated: instance type names and requirements shrink to a fifth, and reads are priced by size.
 */
export const packed = (value: unknown): Uint8Array => deflateRawSync(JSON.stringify(value));
export const unpacked = <T>(bytes: unknown): T => JSON.parse(inflateRawSync(bytes as Uint8Array).toString("utf8")) as T;

/** An item in DynamoDB's form; undefined fields are left out. */
export const toItem = (item: TableItem): Attributes => marshall(item, { removeUndefinedValues: true });
/** The values of an expression. */
export const toValues = (values: Readonly<Record<string, unknown>>): Attributes => marshall(values);
export const fromItem = (attributes: Attributes): TableItem => unmarshall(attributes) as TableItem;

/**
 * The failed condition of a write, with the item that was in the way if it was asked for; undefined for any other
 * error.
 */
export function conditionFailure(error: unknown): { readonly item: TableItem | undefined } | undefined {
  return error instanceof ConditionalCheckFailedException ? { item: error.Item && fromItem(error.Item) } : undefined;
}

const MAX_ROUNDS = 6;
const pause = (round: number): Promise<void> => sleep(Math.min(25 * 2 ** round, 800));

/**
 * Runs a call and turns errors of the SDK into the port's. A call that meets an item in a transaction is retried here,
 * because the SDK does not retry it.
 */
export async function calling<T>(table: Table, call: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ResourceNotFoundException) {
        throw new RefusedError(`There is no DynamoDB table ${table.name} here; set TABLE_NAME to the stack's table.`, { cause: error });
      }
      if (error instanceof Error && /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/.test(error.name)) {
        throw new ThrottledError(`DynamoDB table ${table.name} throttles requests; try again later.`, { cause: error });
      }
      if (!(error instanceof TransactionConflictException) || round === MAX_ROUNDS) {
        throw error;
      }
      await pause(round);
    }
  }
}

/** The items of all pages of a query. */
export async function queryAll(table: Table, input: Omit<QueryCommandInput, "TableName">): Promise<readonly TableItem[]> {
  const items: TableItem[] = [];
  let startKey: Attributes | undefined;
  do {
    const page = await calling(table, () =>
      table.client.send(new QueryCommand({ ...input, TableName: table.name, ...(startKey && { ExclusiveStartKey: startKey }) })),
    );
    items.push(...(page.Items ?? []).map(fromItem));
    startKey = page.LastEvaluatedKey;
  } while (startKey !== undefined);
  return items;
}

/** The items of a partition whose sort key has a prefix, in order of sort key, strongly consistent. */
export const queryPrefix = (
  table: Table,
  pk: string,
  prefix: string,
  extra: Partial<QueryCommandInput> = {},
): Promise<readonly TableItem[]> =>
  queryAll(table, {
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: toValues({ ":pk": pk, ":prefix": prefix }),
    ConsistentRead: true,
    ...extra,
  });

/** Puts and deletes without conditions, 25 per call; items that DynamoDB leaves unprocessed are sent again. */
export async function writeAll(table: Table, requests: readonly WriteRequest[]): Promise<void> {
  for (let start = 0; start < requests.length; start += 25) {
    let left: WriteRequest[] = requests.slice(start, start + 25);
    for (let round = 0; left.length > 0; round++) {
      if (round === MAX_ROUNDS) {
        throw new ThrottledError(`DynamoDB table ${table.name} left ${left.length} writes unprocessed.`);
      }
      if (round > 0) {
        await pause(round);
      }
      const input = { RequestItems: { [table.name]: left } };
      left = (await calling(table, () => table.client.send(new BatchWriteItemCommand(input)))).UnprocessedItems?.[table.name] ?? [];
    }
  }
}

/**
 * Items by key, strongly consistent, in no order; missing ones are left out. At most 40 keys per call, because an
 * answer is limited to 16 MB.
 */
export async function getAll(table: Table, keys: readonly { readonly pk: string; readonly sk: string }[]): Promise<readonly TableItem[]> {
  const items: TableItem[] = [];
  for (let start = 0; start < keys.length; start += 40) {
    let left: KeysAndAttributes | undefined = { Keys: keys.slice(start, start + 40).map((key) => toItem(key)), ConsistentRead: true };
    for (let round = 0; left !== undefined; round++) {
      if (round === MAX_ROUNDS) {
        throw new ThrottledError(`DynamoDB table ${table.name} left ${left.Keys?.length ?? 0} reads unprocessed.`);
      }
      if (round > 0) {
        await pause(round);
      }
      const input: BatchGetItemCommandInput = { RequestItems: { [table.name]: left } };
      const answer: BatchGetItemCommandOutput = await calling(table, () => table.client.send(new BatchGetItemCommand(input)));
      items.push(...(answer.Responses?.[table.name] ?? []).map(fromItem));
      left = answer.UnprocessedKeys?.[table.name];
    }
  }
  return items;
}

/**
 * Writes all items or none. Returns undefined when written, otherwise the reason of each item's refusal, in the items'
 * order. A transaction that conflicts with another one is retried; throws ConflictError when the conflicts do not end.
 */
export async function transact(table: Table, items: TransactWriteItem[]): Promise<readonly CancellationReason[] | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (round > 0) {
      await pause(round);
    }
    try {
      // The SDK adds a ClientRequestToken, so a retry after a lost answer writes nothing twice.
      await calling(table, () => table.client.send(new TransactWriteItemsCommand({ TransactItems: items })));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) {
        throw error;
      }
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) {
        return reasons;
      }
      if (
        !reasons.some(
          ({ Code }) => Code === "TransactionConflict" || Code === "ThrottlingError" || Code === "ProvisionedThroughputExceeded",
        )
      ) {
        throw error;
      }
    }
  }
  throw new ConflictError(`Others kept writing the same items of DynamoDB table ${table.name}; read them again.`);
}
