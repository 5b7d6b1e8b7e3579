import { gzipSync } from "node:zlib";
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import { packed, toItem } from "#adapters/store/table-dynamodb.ts";
import { UnreadableRecordError } from "#core/ports/errors.ts";
import { command, record } from "../../contracts/node-claim-store/contract.ts";

// What DynamoDB Local never does: leave work over, throttle, lose an answer. All else is in the contract suite.
const dynamo = mockClient(DynamoDBClient);
const store = dynamoNodeClaimStore({ tableName: "t", client: new DynamoDBClient({ region: "us-west-2" }), clock: () => 1_000 });
const meta = { $metadata: {}, message: "m" };
const lease = { cluster: "c1", holder: "h", token: 1, expiresAt: 0 };
const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({ ...meta, CancellationReasons: codes.map((Code) => ({ Code })) });
const stored = (value: ReturnType<typeof record>) =>
  toItem({ pk: "cluster#c1", sk: `claim#${value.name}`, intentId: value.intentId, record: packed(value) });

beforeEach(() => {
  dynamo.reset();
});

it("each transaction of intents and of a command checks first that the lease is held", async () => {
  dynamo.on(TransactWriteItemsCommand).resolves({});
  const many = Array.from({ length: 150 }, (_, i) => record(`n${i}`));
  await store.writeIntents(lease, many, command("x"));
  await store.createCommand(lease, command("y"));
  const calls = dynamo.commandCalls(TransactWriteItemsCommand).map(({ args }) => args[0].input.TransactItems ?? []);
  expect(calls.map((items) => items.length)).toEqual([100, 53, 2]);
  for (const [first] of calls) {
    expect(first?.ConditionCheck?.Key).toEqual({ pk: { S: "cluster#c1" }, sk: { S: "lease" } });
    expect(first?.ConditionCheck?.ExpressionAttributeValues).toEqual({ ":holder": { S: "h" }, ":token": { N: "1" } });
  }
});

describe("reads", () => {
  it("reads follow all pages and are strongly consistent", async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [stored(record("a"))], LastEvaluatedKey: { pk: { S: "x" } } })
      .resolvesOnce({ Items: [], LastEvaluatedKey: { pk: { S: "y" } } })
      .resolves({ Items: [stored(record("b"))] });
    expect((await store.list("c1")).map(({ name }) => name)).toEqual(["a", "b"]);
    const inputs = dynamo.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    expect(inputs.map(({ ConsistentRead, ExclusiveStartKey }) => [ConsistentRead, ExclusiveStartKey?.["pk"]?.S])).toEqual([
      [true, undefined],
      [true, "x"],
      [true, "y"],
    ]);
  });

  it("reads ask again for unprocessed keys", async () => {
    const half = (sk: string, bytes: Uint8Array) => toItem({ pk: "document#d", sk, bytes });
    const zipped = gzipSync("a");
    const [zippedA, zippedB] = [zipped.subarray(0, 10), zipped.subarray(10)];
    dynamo.on(GetItemCommand).resolves({ Item: toItem({ pk: "document#d", sk: "head", version: "v", chunks: 2, generation: "g" }) });
    dynamo
      .on(BatchGetItemCommand)
      .resolvesOnce({
        Responses: { t: [half("chunk#g#00001", zippedB)] },
        UnprocessedKeys: { t: { Keys: [toItem({ pk: "document#d", sk: "chunk#g#00000" })], ConsistentRead: true } },
      })
      .resolves({ Responses: { t: [half("chunk#g#00000", zippedA)] } });
    expect(Buffer.from((await store.getDocument("d"))?.bytes ?? []).toString()).toBe("a");
    expect(dynamo.commandCalls(BatchGetItemCommand)).toHaveLength(2);
  });

  it.for([
    { name: "is damaged", head: { chunks: 0, bytes: new Uint8Array([1, 2, 3]) } },
    { name: "has no content", head: { chunks: 0 } },
    { name: "lacks chunks", head: { chunks: 2, generation: "g" } },
  ])("a document that $name is told as unreadable", async ({ head }) => {
    dynamo.on(GetItemCommand).resolves({ Item: toItem({ pk: "document#d", sk: "head", version: "v", ...head }) });
    dynamo.on(BatchGetItemCommand).resolves({ Responses: { t: [] } });
    await expect(store.getDocument("d")).rejects.toThrow(UnreadableRecordError);
  });
});

describe("writes", () => {
  const offerings = [1, 2, 3].map((i) => ({ instanceType: `t${i}`, zone: "z", capacityType: "spot", expiresAt: 1_500 }) as const);

  it("writes send unprocessed items again, and only those", async () => {
    const sizes: number[] = [];
    dynamo.on(BatchWriteItemCommand).callsFake(({ RequestItems }) => {
      sizes.push(RequestItems.t.length);
      return sizes.length === 1 ? { UnprocessedItems: { t: RequestItems.t.slice(1) } } : {};
    });
    await store.markUnavailable("c1", offerings);
    expect(sizes).toEqual([3, 2]);
  });

  it("writes carry the time to live in seconds, rounded up", async () => {
    dynamo.on(BatchWriteItemCommand).resolves({});
    await store.markUnavailable("c1", offerings);
    const [call] = dynamo.commandCalls(BatchWriteItemCommand);
    const [request] = call?.args[0].input.RequestItems?.["t"] ?? [];
    expect(request?.PutRequest?.Item).toMatchObject({ expiresAt: { N: "1500" }, ttl: { N: "2" } });
  });

  it("a write that the SDK repeated after a lost answer succeeds", async () => {
    dynamo.on(PutItemCommand).callsFake((input) => {
      throw new ConditionalCheckFailedException({ ...meta, Item: input.Item });
    });
    expect((await store.update(record("a", { version: 3 }))).version).toBe(4);
    expect(await store.isFirstWithin("c1", "k", 0, 10)).toBe(true);
  });

  it("a write of the same content by another is a conflict", async () => {
    dynamo.on(PutItemCommand).callsFake((input) => {
      throw new ConditionalCheckFailedException({ ...meta, Item: { ...input.Item, nonce: { S: "other" } } });
    });
    await expect(store.update(record("a", { version: 3 }))).rejects.toMatchObject({ name: "ConflictError" });
    expect(await store.isFirstWithin("c1", "k", 0, 10)).toBe(false);
  });

  it("a write waits for a transaction that holds the item", async () => {
    dynamo.on(PutItemCommand).rejectsOnce(new TransactionConflictException(meta)).resolves({});
    expect((await store.update(record("a", { version: 3 }))).version).toBe(4);
  });
});

describe("transactions", () => {
  it("a transaction that meets another, or throttling, is tried again", async () => {
    dynamo
      .on(TransactWriteItemsCommand)
      .rejectsOnce(cancelled("None", "TransactionConflict"))
      .rejectsOnce(cancelled("None", "ThrottlingError"))
      .resolves({});
    await store.writeIntents(lease, [record("a")]);
    expect(dynamo.commandCalls(TransactWriteItemsCommand)).toHaveLength(3);
  });

  it("a transaction that keeps meeting another throws ConflictError", async () => {
    dynamo.on(TransactWriteItemsCommand).rejects(cancelled("TransactionConflict", "None"));
    await expect(store.createCommand(lease, command("x"))).rejects.toMatchObject({ name: "ConflictError" });
  });

  it("a transaction that is refused is not tried again", async () => {
    dynamo.on(TransactWriteItemsCommand).rejects(cancelled("None", "ItemCollectionSizeLimitExceeded"));
    await expect(store.writeIntents(lease, [record("a")])).rejects.toBeInstanceOf(TransactionCanceledException);
    expect(dynamo.commandCalls(TransactWriteItemsCommand)).toHaveLength(1);
  });
});

describe("errors", () => {
  it("a missing table throws a sentence that names the setting", async () => {
    dynamo.on(GetItemCommand).rejects(new ResourceNotFoundException(meta));
    await expect(store.get("c1", "a")).rejects.toMatchObject({
      name: "RefusedError",
      message: "There is no DynamoDB table t here; set TABLE_NAME to the stack's table.",
    });
  });

  it.for(["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"])(
    "ask for patience after %s",
    async (name) => {
      dynamo.on(GetItemCommand).rejects(Object.assign(new Error("slow down"), { name }));
      await expect(store.get("c1", "a")).rejects.toMatchObject({ name: "ThrottledError" });
    },
  );

  it("other errors are thrown as they are", async () => {
    dynamo.on(GetItemCommand).rejects(Object.assign(new Error("no"), { name: "AccessDeniedException" }));
    await expect(store.get("c1", "a")).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});
