import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import { clusterRecords } from "#adapters/store/cluster-records.ts";
import { dynamoTable, toItem } from "#adapters/store/table-dynamodb.ts";
import type { ClusterRecord, UnreadableCluster } from "#core/model/cluster-record.ts";
import { ConflictError } from "#core/ports/errors.ts";

const dynamo = mockClient(DynamoDBClient);
const records = clusterRecords(dynamoTable({ name: "t", client: new DynamoDBClient({ region: "us-west-2" }) }));
const ROLES = { lifecycle: "arn:aws:iam::111122223333:role/p/lifecycle/x", catalog: "arn:aws:iam::111122223333:role/p/catalog/x" };
const record: ClusterRecord = { name: "b", state: "served", version: 3, sources: ["sweep"], roles: ROLES };
const itemOf = ({ name, ...rest }: ClusterRecord, more: object = {}) => toItem({ pk: "clusters", sk: `cluster#${name}`, ...rest, ...more });
const failed = (item: ReturnType<typeof toItem>) => new ConditionalCheckFailedException({ $metadata: {}, message: "m", Item: item });

beforeEach(() => {
  dynamo.reset();
});

it("all pages of clusters are read, and what a later version has added is left out", async () => {
  dynamo
    .on(QueryCommand)
    .resolvesOnce({ Items: [itemOf({ ...record, name: "a" }, { colour: "blue" })], LastEvaluatedKey: toItem({ pk: "clusters", sk: "x" }) })
    .resolvesOnce({ Items: [itemOf(record)] });
  expect(await records.list()).toEqual([{ ...record, name: "a" }, record]);
});

it.for([
  { name: "of another state", change: { state: "frozen" }, problem: 'its state is "frozen"' },
  { name: "with roles that are no ARNs", change: { roles: { lifecycle: "x", catalog: "y" } }, problem: "its roles are not the ARNs" },
  { name: "without sources", change: { sources: "sweep" }, problem: "its sources are no list" },
])("a cluster $name is set aside, and the others are read", async ({ change, problem }) => {
  dynamo.on(QueryCommand).resolves({ Items: [itemOf({ ...record, name: "odd" }, change), itemOf(record)] });
  const aside: UnreadableCluster[] = [];
  expect(await records.list((one) => aside.push(one))).toEqual([record]);
  expect(aside).toEqual([{ name: "odd", problem: expect.stringContaining(problem) }]);
});

it("a write names the version that was read, and a new record that there is none", async () => {
  dynamo.on(PutItemCommand).resolves({});
  expect(await records.put(record)).toEqual({ ...record, version: 4 });
  expect(await records.put({ ...record, version: 0 })).toEqual({ ...record, version: 1 });
  const inputs = dynamo.commandCalls(PutItemCommand).map(({ args }) => args[0].input);
  expect(inputs.map(({ ConditionExpression }) => ConditionExpression)).toEqual(["#version = :version", "attribute_not_exists(#version)"]);
  expect(inputs[0]?.ExpressionAttributeValues).toEqual({ ":version": { N: "3" } });
});

it("a write that the SDK repeats after a lost answer is done, and a record that another wrote is a conflict", async () => {
  dynamo.on(PutItemCommand).rejectsOnce(failed(itemOf({ ...record, version: 4 })));
  expect(await records.put(record)).toEqual({ ...record, version: 4 });
  dynamo.reset();
  dynamo.on(PutItemCommand).rejectsOnce(failed(itemOf({ ...record, version: 4, state: "leaving" })));
  await expect(records.put(record)).rejects.toThrow(ConflictError);
});
