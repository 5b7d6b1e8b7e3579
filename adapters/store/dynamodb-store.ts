// The port NodeClaimStore: records of intent, commands, leases, unavailable offerings and documents, on DynamoDB for
// the functions and on SQLite for the lab and tests. In: records as core/model has them. Out: the same, and
// ConflictError where another was faster. Nothing here knows what a record means.

import { randomUUID } from "node:crypto";
import { DeleteItemCommand, GetItemCommand, PutItemCommand, type TransactWriteItem, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import { type GroupMember, isClosed, type LaunchGroup } from "#core/model/launch-group.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { readCommand } from "#core/model/read-record.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { dynamoDocuments } from "./dynamodb-documents.ts";
import { dynamoHistory } from "./dynamodb-history.ts";
import { dynamoRequestPace } from "./dynamodb-pace.ts";
import {
  calling,
  conditionFailure,
  dynamoClient,
  fromItem,
  packed,
  queryAll,
  queryPrefix,
  type Table,
  type TableItem,
  toItem,
  toValues,
  transact,
  unpacked,
  writeAll,
} from "./dynamodb-table.ts";
import { type IntentBatch, intentBatches } from "./intent-batches.ts";
import { ownerOf, readClaim, readClaims, readGroup, withSchema } from "./records.ts";

const CLAIM = "claim#";
const COMMAND = "command#";
const UNAVAILABLE = "unavailable#";
const GROUP = "launch#";
const LEASE = "lease";
const partition = (cluster: string) => `cluster#${cluster}`;

/**
 * The TTL attribute, seconds since the epoch. Expiry is compared at each read, because DynamoDB deletes expired items
 * hours late.
 */
const ttlOf = (expiresAt: number): number => Math.ceil(expiresAt / 1_000);

/**
 * The item of a record. `nonce` distinguishes a write that the SDK repeated, because its answer was lost, from a second
 * write.
 */
function claimItem(record: NodeClaimRecord, nonce: string): TableItem {
  const { cluster, name, version, intentId, uid, nodePool, dueAt } = record;
  return {
    ...{ pk: partition(cluster), sk: CLAIM + name, version, intentId, nonce, uid, nodePool, dueAt },
    instanceId: record.instance?.id,
    record: packed(withSchema(record)),
  };
}

const commandItem = (command: CommandRecord, nonce: string): TableItem => ({
  ...{ pk: partition(command.cluster), sk: COMMAND + command.id, version: command.version, phase: command.phase, nonce },
  record: packed(withSchema(command)),
});

const memberText = ({ name, alike }: GroupMember): string => `${alike} ${name}`;

/** A group that is closed has a `record`; members can join one without. */
function groupItem({ cluster, id, version, members, expiresAt, ...stored }: LaunchGroup, nonce: string): TableItem {
  return {
    ...{ pk: partition(cluster), sk: GROUP + id, version, nonce, expiresAt, ttl: ttlOf(expiresAt) },
    ...(members.length > 0 && { members: new Set(members.map(memberText)) }),
    ...(isClosed({ cluster, id, version, members, expiresAt, ...stored }) && { record: packed(stored) }),
  };
}

function groupOf(item: TableItem): LaunchGroup {
  const id = item.sk.slice(GROUP.length);
  const members = [...((item["members"] ?? []) as Iterable<string>)].map((text): GroupMember => {
    const [alike = "", name = ""] = text.split(" ", 2);
    return { name, alike };
  });
  const sorted = members.toSorted((a, b) => (memberText(a) < memberText(b) ? -1 : 1));
  const facts = { id, version: Number(item["version"]), members: sorted, expiresAt: Number(item["expiresAt"]) };
  const stored = item["record"] === undefined ? {} : readGroup(storedIn(item), id);
  return { cluster: item.pk.slice(partition("").length), ...facts, ...stored };
}

const nameOf = ({ sk }: TableItem): string => sk.slice(CLAIM.length);
/** The stored value; undefined when its bytes cannot be read. */
const storedIn = (item: TableItem): unknown => {
  try {
    return unpacked(item["record"]);
  } catch {
    return undefined;
  }
};
const commandOf = (item: TableItem): CommandRecord =>
  readCommand(storedIn(item), { cluster: item.pk.slice(partition("").length), id: item.sk.slice(COMMAND.length) });

/** How many days the history is kept unless the deployment says otherwise. */
const DEFAULT_HISTORY_DAYS = 30;

/**
 * The port NodeClaimStore on one DynamoDB table (pk, sk, index `byInstance` on instanceId, TTL attribute `ttl`). The
 * items of a cluster share the partition `cluster#NAME` with the sort keys `claim#…`, `command#…`, `launch#…`,
 * `unavailable#…` and `lease`; first sightings are in `seen#NAME`, documents in `document#NAME`, buckets of requests in
 * `pace#BUCKET`, and the history of a day in `history#NAME#DAY`, for `historyDays` days (30; none for 0). `clock` (ms
 * since the epoch) only dates documents.
 */
export function dynamoNodeClaimStore(options: {
  readonly tableName: string;
  readonly client?: Table["client"];
  readonly clock?: () => number;
  readonly historyDays?: number;
}): NodeClaimStore {
  const table: Table = { client: options.client ?? dynamoClient(), name: options.tableName };
  const kept = dynamoHistory(table, options.historyDays ?? DEFAULT_HISTORY_DAYS);
  const TableName = table.name;

  /** Puts an item under a condition, with entries of the history; false when the condition is not met. */
  async function put(
    item: TableItem,
    condition: string,
    values: Readonly<Record<string, unknown>> = {},
    history: readonly HistoryEntry[] = [],
  ): Promise<boolean> {
    const entries = kept.puts(history);
    const input = {
      TableName,
      Item: toItem(item),
      ConditionExpression: condition,
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: toValues(values) }),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    };
    if (entries.length > 0) {
      const refused = await transact(table, [{ Put: input }, ...entries]);
      const existing = refused?.[0]?.Item;
      return refused === undefined || (existing !== undefined && fromItem(existing)["nonce"] === item["nonce"]);
    }
    try {
      await calling(table, () => table.client.send(new PutItemCommand(input)));
      return true;
    } catch (error) {
      const failure = conditionFailure(error);
      if (failure === undefined) {
        throw error;
      }
      return failure.item?.["nonce"] === item["nonce"];
    }
  }

  /**
   * Deletes an item of this version, with entries of the history; true also when it is gone already (then no entry is
   * written), false when it has another version.
   */
  async function removeVersion(pk: string, sk: string, version: number, history: readonly HistoryEntry[] = []): Promise<boolean> {
    const entries = kept.puts(history);
    if (entries.length > 0) {
      const deletion = {
        TableName,
        Key: toItem({ pk, sk }),
        ConditionExpression: "version = :version",
        ExpressionAttributeValues: toValues({ ":version": version }),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
      };
      const refused = await transact(table, [{ Delete: deletion }, ...entries]);
      return refused === undefined || refused[0]?.Item === undefined;
    }
    const input = {
      TableName,
      Key: toItem({ pk, sk }),
      ConditionExpression: "attribute_not_exists(pk) OR version = :version",
      ExpressionAttributeValues: toValues({ ":version": version }),
    };
    try {
      await calling(table, () => table.client.send(new DeleteItemCommand(input)));
      return true;
    } catch (error) {
      if (conditionFailure(error) === undefined) {
        throw error;
      }
      return false;
    }
  }

  /** The condition that the lease is still held: no other has taken it, and its holder has not released it. */
  const leaseCheck = (lease: Lease): TransactWriteItem => ({
    ConditionCheck: {
      TableName,
      Key: toItem({ pk: partition(lease.cluster), sk: LEASE }),
      ConditionExpression: "holder = :holder AND #token = :token",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: toValues({ ":holder": lease.holder, ":token": lease.token }),
    },
  });
  /** Changes the item of a lease; false, without a change, when its holder no longer has it. */
  async function changeLease({ cluster, holder, token }: Lease, change: string, expiresAt: number): Promise<boolean> {
    const input = {
      TableName,
      Key: toItem({ pk: partition(cluster), sk: LEASE }),
      UpdateExpression: change,
      ConditionExpression: "holder = :holder AND #token = :token",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: toValues({ ":holder": holder, ":token": token, ":expiresAt": expiresAt }),
    };
    try {
      await calling(table, () => table.client.send(new UpdateItemCommand(input)));
      return true;
    } catch (error) {
      if (conditionFailure(error) === undefined) {
        throw error;
      }
      return false;
    }
  }
  const leaseLost = (lease: Lease) => new ConflictError(`The lease of cluster ${lease.cluster} is no longer held by ${lease.holder}.`);

  const transactPut = (item: TableItem, version: number): TransactWriteItem => ({
    Put: {
      TableName,
      Item: toItem(item),
      ...(version === 0
        ? { ConditionExpression: "attribute_not_exists(pk)" }
        : { ConditionExpression: "version = :version", ExpressionAttributeValues: toValues({ ":version": version }) }),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  });

  /** One transaction of intents; those that exist already are left out of it, with the entries that tell of them. */
  async function writeBatch(lease: Lease, { intents, history }: IntentBatch, command: CommandRecord | undefined): Promise<void> {
    let left = intents.map(({ record, history: told }) => ({ record: { ...record, version: 1 }, told }));
    let commandLeft = command && { ...command, version: command.version + 1 };
    for (;;) {
      const commandPuts = commandLeft && command ? [transactPut(commandItem(commandLeft, randomUUID()), command.version)] : [];
      const untold = command === undefined || commandLeft !== undefined ? history : [];
      const refused = await transact(table, [
        leaseCheck(lease),
        ...commandPuts,
        ...left.map(({ record }) => transactPut(claimItem(record, randomUUID()), 0)),
        ...kept.puts([...untold, ...left.flatMap(({ told }) => told)]),
      ]);
      if (refused === undefined) {
        return;
      }
      if (refused[0]?.Code === "ConditionalCheckFailed") {
        throw leaseLost(lease);
      }
      const standing = refused.map(({ Code, Item: item }) =>
        Code === "ConditionalCheckFailed" ? { item: item && fromItem(item) } : undefined,
      );
      const commandStanding = commandPuts.length > 0 ? standing[1] : undefined;
      if (commandLeft && commandStanding) {
        // The same command: this is the second run of a write that was killed after its first transaction.
        if (
          commandStanding.item === undefined ||
          JSON.stringify(storedIn(commandStanding.item)) !== JSON.stringify(withSchema(commandLeft))
        ) {
          throw new ConflictError(`Disruption command ${commandLeft.id} has changed since version ${commandLeft.version - 1} was read.`);
        }
        commandLeft = undefined;
      }
      const offset = 1 + commandPuts.length;
      const before = left.length + commandPuts.length;
      left = left.filter(({ record }, i) => {
        const existing = standing[offset + i]?.item;
        if (existing !== undefined && existing["intentId"] !== record.intentId) {
          throw new ConflictError(`NodeClaim ${record.name} was already made by another intent.`);
        }
        return existing === undefined;
      });
      if (left.length + (commandLeft ? 1 : 0) === before) {
        throw new Error(`DynamoDB table ${table.name} refused intents without a reason.`);
      }
    }
  }

  const claimChanged = (record: NodeClaimRecord) =>
    new ConflictError(`NodeClaim ${record.name} has changed or gone since version ${record.version} was read.`);
  const groupChanged = ({ id, version }: LaunchGroup) =>
    new ConflictError(`Launch group ${id} has changed or gone since version ${version} was read.`);
  const commandChanged = (command: CommandRecord) =>
    new ConflictError(`Disruption command ${command.id} has changed or gone since version ${command.version} was read.`);

  return {
    async writeIntents(lease, records, command, history = [], onWritten = async () => {}) {
      for (const [i, batch] of intentBatches(records, command !== undefined, kept.kept(history)).entries()) {
        await writeBatch(lease, batch, i === 0 ? command : undefined);
        await onWritten(batch.intents.map(({ record }) => record));
      }
    },
    async create(record, history) {
      const written = withSchema({ ...record, version: 1 });
      if (!(await put(claimItem(written, randomUUID()), "attribute_not_exists(pk)", {}, history))) {
        throw new ConflictError(`NodeClaim ${record.name} has a record already.`);
      }
      return written;
    },
    async get(cluster, name) {
      const input = { TableName, Key: toItem({ pk: partition(cluster), sk: CLAIM + name }), ConsistentRead: true };
      const { Item: item } = await calling(table, () => table.client.send(new GetItemCommand(input)));
      return item && readClaim(storedIn(fromItem(item)), { cluster, name });
    },
    list: async (cluster, setAside) => {
      const items = await queryPrefix(table, partition(cluster), CLAIM);
      return readClaims(
        items.map((item) => ({ name: nameOf(item), value: storedIn(item) })),
        cluster,
        setAside,
      );
    },
    async byInstance(instanceId) {
      const [item] = await queryAll(table, {
        IndexName: "byInstance",
        KeyConditionExpression: "instanceId = :instanceId",
        ExpressionAttributeValues: toValues({ ":instanceId": instanceId }),
      });
      const value = item && storedIn(item);
      return ownerOf(value, instanceId);
    },
    async update(record, history) {
      const written = withSchema({ ...record, version: record.version + 1 });
      if (!(await put(claimItem(written, randomUUID()), "version = :version", { ":version": record.version }, history))) {
        throw claimChanged(record);
      }
      return written;
    },
    async remove(record, history) {
      if (!(await removeVersion(partition(record.cluster), CLAIM + record.name, record.version, history))) {
        throw claimChanged(record);
      }
    },

    async joinLaunch(cluster, id, { name, alike }, expiresAt) {
      // A set, so that many members join at the same time without a conflict.
      const input = {
        TableName,
        Key: toItem({ pk: partition(cluster), sk: GROUP + id }),
        UpdateExpression:
          "SET expiresAt = if_not_exists(expiresAt, :expiresAt), #ttl = if_not_exists(#ttl, :ttl) ADD members :member, version :one",
        ConditionExpression: "attribute_not_exists(#record)",
        ExpressionAttributeNames: { "#ttl": "ttl", "#record": "record" },
        ExpressionAttributeValues: toValues({
          ...{ ":member": new Set([memberText({ name, alike })]), ":one": 1 },
          ...{ ":expiresAt": expiresAt, ":ttl": ttlOf(expiresAt) },
        }),
        ReturnValues: "ALL_NEW" as const,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
      };
      try {
        const { Attributes = {} } = await calling(table, () => table.client.send(new UpdateItemCommand(input)));
        return groupOf(fromItem(Attributes));
      } catch (error) {
        const closed = conditionFailure(error)?.item;
        if (closed === undefined) throw error;
        return groupOf(closed);
      }
    },
    async launchGroup(cluster, id) {
      const input = { TableName, Key: toItem({ pk: partition(cluster), sk: GROUP + id }), ConsistentRead: true };
      const { Item: item } = await calling(table, () => table.client.send(new GetItemCommand(input)));
      return item && groupOf(fromItem(item));
    },
    async updateLaunchGroup(group) {
      const written = { ...group, version: group.version + 1 };
      if (!(await put(groupItem(written, randomUUID()), "version = :version", { ":version": group.version }))) throw groupChanged(group);
      return written;
    },

    async markUnavailable(cluster, offerings) {
      // A batch refuses duplicate keys; the last value counts, as in separate writes.
      const bySk = new Map(offerings.map((offering) => [unavailableKey(offering), offering]));
      await writeAll(
        table,
        [...bySk].map(([sk, offering]) => ({
          PutRequest: { Item: toItem({ pk: partition(cluster), sk, ...offering, ttl: ttlOf(offering.expiresAt) }) },
        })),
      );
    },
    async unavailable(cluster, now) {
      const items = await queryPrefix(table, partition(cluster), UNAVAILABLE);
      return items
        .map((item) => item as unknown as UnavailableOffering)
        .filter(({ expiresAt }) => expiresAt > now)
        .map(({ instanceType, zone, capacityType, expiresAt }) => ({ instanceType, zone, capacityType, expiresAt }));
    },

    async acquireLease(cluster, holder, now, ttlMs) {
      const input = {
        TableName,
        Key: toItem({ pk: partition(cluster), sk: LEASE }),
        UpdateExpression: "SET holder = :holder, expiresAt = :expiresAt ADD #token :one",
        ConditionExpression: "attribute_not_exists(holder) OR holder = :holder OR expiresAt <= :now",
        ExpressionAttributeNames: { "#token": "token" },
        ExpressionAttributeValues: toValues({ ":holder": holder, ":expiresAt": now + ttlMs, ":one": 1, ":now": now }),
        ReturnValues: "ALL_NEW" as const,
      };
      try {
        const { Attributes } = await calling(table, () => table.client.send(new UpdateItemCommand(input)));
        return { cluster, holder, token: Number(Attributes?.["token"]?.N), expiresAt: now + ttlMs };
      } catch (error) {
        if (conditionFailure(error) === undefined) {
          throw error;
        }
        return undefined;
      }
    },
    async renewLease(lease, now, ttlMs) {
      const expiresAt = now + ttlMs;
      return (await changeLease(lease, "SET expiresAt = :expiresAt", expiresAt)) ? { ...lease, expiresAt } : undefined;
    },
    async releaseLease(lease) {
      // The item stays, because the next token must be greater.
      await changeLease(lease, "REMOVE holder SET expiresAt = :expiresAt", 0);
    },

    commands: async (cluster) => (await queryPrefix(table, partition(cluster), COMMAND)).map(commandOf),
    async createCommand(lease, command) {
      const written = withSchema({ ...command, version: 1 });
      const refused = await transact(table, [leaseCheck(lease), transactPut(commandItem(written, randomUUID()), 0)]);
      if (refused?.[0]?.Code === "ConditionalCheckFailed") {
        throw leaseLost(lease);
      }
      if (refused !== undefined) {
        throw new ConflictError(`There is a disruption command ${command.id} already.`);
      }
      return written;
    },
    async updateCommand(command, history) {
      const written = withSchema({ ...command, version: command.version + 1 });
      if (!(await put(commandItem(written, randomUUID()), "version = :version", { ":version": command.version }, history))) {
        throw commandChanged(command);
      }
      return written;
    },
    async removeCommand(command, history) {
      if (!(await removeVersion(partition(command.cluster), COMMAND + command.id, command.version, history))) {
        throw commandChanged(command);
      }
    },

    addHistory: kept.addHistory,
    history: kept.history,

    isFirstWithin: (cluster, key, now, ttlMs) => {
      const item = { pk: `seen#${cluster}`, sk: key, nonce: randomUUID(), expiresAt: now + ttlMs, ttl: ttlOf(now + ttlMs) };
      return put(item, "attribute_not_exists(pk) OR expiresAt <= :now", { ":now": now });
    },
    async wasSeen(cluster, key, now) {
      const input = { TableName, Key: toItem({ pk: `seen#${cluster}`, sk: key }), ConsistentRead: true };
      const { Item: item } = await calling(table, () => table.client.send(new GetItemCommand(input)));
      return item !== undefined && Number(fromItem(item)["expiresAt"]) > now;
    },

    ...dynamoRequestPace(table),
    ...dynamoDocuments(table, options.clock ?? Date.now),
  };
}

const unavailableKey = ({ capacityType, instanceType, zone }: UnavailableOffering): string =>
  `${UNAVAILABLE}${capacityType}#${instanceType}#${zone}`;
