import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ResourceNotFoundException,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { RefusedError, ThrottledError } from "#core/ports/errors.ts";
import { expressions } from "./dynamodb-expressions.ts";
import type {
  BatchWrite,
  Condition,
  Key,
  Query,
  Table,
  TableItem,
  Update,
  UpdateWrite,
  Write,
  WriteOptions,
  WriteResult,
} from "./table.ts";
import { keyOf, TransactionConflictError } from "./table.ts";

type Attributes = Record<string, AttributeValue>;

/** A client whose calls end well within a function's time-out: 1 s to connect, 5 s per request, 4 attempts. */
export function dynamoClient(region?: string): DynamoDBClient {
  return new DynamoDBClient({
    ...(region !== undefined && { region }),
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 },
  });
}

/** Instance type names and requirements shrink to a fifth. */
export const packed = (value: unknown): Uint8Array => deflateRawSync(JSON.stringify(value));
export const unpacked = (bytes: unknown): unknown => JSON.parse(inflateRawSync(bytes as Uint8Array).toString("utf8")) as unknown;

/** An item in DynamoDB's form; undefined fields are left out. */
export const toItem = (item: TableItem): Attributes => marshall(item, { removeUndefinedValues: true });
const toKey = ({ pk, sk }: Key): Attributes => marshall({ pk, sk });
const fromItem = (attributes: Attributes): TableItem => unmarshall(attributes) as TableItem;
const refusedBy = (item: Attributes | undefined): { readonly item: TableItem | undefined } => ({ item: item && fromItem(item) });

/** The port Table on DynamoDB. */
export function dynamoTable({ name, client }: { readonly name: string; readonly client: DynamoDBClient }): Table {
  /** Turns errors of the SDK into the port's. */
  async function calling<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ResourceNotFoundException)
        throw new RefusedError(`There is no DynamoDB table ${name} here; set TABLE_NAME to the stack's table.`, { cause: error });
      if (error instanceof Error && /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/.test(error.name))
        throw new ThrottledError(`DynamoDB table ${name} throttles requests; try again later.`, { cause: error });
      // The SDK does not repeat these.
      if (error instanceof TransactionConflictException || isConflict(error))
        throw new TransactionConflictError(error.message, { cause: error });
      throw error;
    }
  }

  const within = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { abortSignal: AbortSignal.timeout(timeoutMs) });
  const conditional = (condition: Condition | undefined, update?: Update) => {
    const { values, ...rest } = expressions(condition, update);
    return { TableName: name, ...rest, ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: marshall(values) }) };
  };
  const answering = (condition: Condition | undefined) => (condition ? { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const } : {});

  function send(write: BatchWrite | UpdateWrite, condition: Condition | undefined, { returns, timeoutMs }: WriteOptions) {
    const shared = {
      ...conditional(condition, "update" in write ? write.by : undefined),
      ...answering(condition),
      ...(returns && { ReturnValues: returns === "old" ? ("ALL_OLD" as const) : ("ALL_NEW" as const) }),
    };
    const options = within(timeoutMs);
    if ("put" in write) return client.send(new PutItemCommand({ ...shared, Item: toItem(write.put) }), options);
    if ("delete" in write) return client.send(new DeleteItemCommand({ ...shared, Key: toKey(write.delete) }), options);
    return client.send(new UpdateItemCommand({ ...shared, Key: toKey(write.update) }), options);
  }

  function inTransaction(write: Exclude<Write, UpdateWrite>): TransactWriteItem {
    if ("check" in write) {
      const { ConditionExpression = "", ...rest } = conditional(write.if);
      return { ConditionCheck: { ...rest, ConditionExpression, Key: toKey(write.check) } };
    }
    const shared = { ...conditional(write.if), ...answering(write.if) };
    return "put" in write ? { Put: { ...shared, Item: toItem(write.put) } } : { Delete: { ...shared, Key: toKey(write.delete) } };
  }

  return {
    name,
    pack: packed,
    unpack: unpacked,
    async get(key, attributes) {
      const input = { TableName: name, Key: toKey(key), ConsistentRead: true, ...only(attributes) };
      const { Item } = await calling(() => client.send(new GetItemCommand(input)));
      return Item && fromItem(Item);
    },
    async query(query, after) {
      const input = { TableName: name, ...queryInput(query), ...(after !== undefined && { ExclusiveStartKey: after as Attributes }) };
      const options = within("timeoutMs" in query ? query.timeoutMs : undefined);
      const { Items = [], LastEvaluatedKey } = await calling(() => client.send(new QueryCommand(input), options));
      return { items: Items.map(fromItem), next: LastEvaluatedKey };
    },
    async write(write, options = {}): Promise<WriteResult> {
      if ("check" in write) throw new Error("a check alone is no write");
      try {
        const { Attributes } = await calling(() => send(write, write.if, options));
        return { isWritten: true, item: Attributes && fromItem(Attributes) };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { isWritten: false, ...refusedBy(error.Item) };
      }
    },
    async transact(writes) {
      try {
        // The SDK adds a ClientRequestToken, so a retry after a lost answer writes nothing twice.
        await calling(() => client.send(new TransactWriteItemsCommand({ TransactItems: writes.map(inTransaction) })));
        return undefined;
      } catch (error) {
        const reasons = reasonsOf(error);
        if (!reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) throw error;
        return reasons.map(({ Code, Item }) => (Code === "ConditionalCheckFailed" ? refusedBy(Item) : undefined));
      }
    },
    async batchGet(keys) {
      const input = { RequestItems: { [name]: { Keys: keys.map(toKey), ConsistentRead: true } } };
      const { Responses, UnprocessedKeys } = await calling(() => client.send(new BatchGetItemCommand(input)));
      const unprocessed = UnprocessedKeys?.[name]?.Keys ?? [];
      return { items: (Responses?.[name] ?? []).map(fromItem), unprocessed: unprocessed.map(fromItem) };
    },
    async batchWrite(writes) {
      const requests = writes.map(
        (write): WriteRequest =>
          "put" in write ? { PutRequest: { Item: toItem(write.put) } } : { DeleteRequest: { Key: toKey(write.delete) } },
      );
      const { UnprocessedItems } = await calling(() => client.send(new BatchWriteItemCommand({ RequestItems: { [name]: requests } })));
      const left = (UnprocessedItems?.[name] ?? []).map(({ PutRequest, DeleteRequest }) =>
        fromItem(PutRequest?.Item ?? DeleteRequest?.Key ?? {}),
      );
      const isLeft = new Set(left.map(({ pk, sk }) => `${pk} ${sk}`));
      return writes.filter((write) => isLeft.has(`${keyOf(write).pk} ${keyOf(write).sk}`));
    },
  };
}

const reasonsOf = (error: unknown) => (error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : []);

/** Whether a transaction can succeed a moment later: it met others, or throttling, and no condition failed. */
function isConflict(error: unknown): error is TransactionCanceledException {
  const codes = reasonsOf(error).map(({ Code }) => Code);
  if (codes.includes("ConditionalCheckFailed")) return false;
  return ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].some((code) => codes.includes(code));
}

const only = (attributes: readonly string[] | undefined) => (attributes ? { ProjectionExpression: attributes.join(", ") } : {});

function queryInput(query: Query): Omit<QueryCommandInput, "TableName"> {
  if ("instanceId" in query) {
    const ExpressionAttributeValues = marshall({ ":instanceId": query.instanceId });
    return { IndexName: "byInstance", KeyConditionExpression: "instanceId = :instanceId", ExpressionAttributeValues };
  }
  const { pk, prefix = "", isConsistent, attributes } = query;
  return {
    KeyConditionExpression: prefix === "" ? "pk = :pk" : "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: marshall({ ":pk": pk, ...(prefix !== "" && { ":prefix": prefix }) }),
    ...(isConsistent && { ConsistentRead: true }),
    ...only(attributes),
  };
}
