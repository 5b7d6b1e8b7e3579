import { deflateRawSync } from "node:zlib";

/** DynamoDB's limits in bytes: of a partition key, of a sort key, of an item, of all items of a transaction. */
const MAX_PARTITION_KEY = 2_048;
const MAX_SORT_KEY = 1_024;
export const MAX_ITEM = 400 * 1_024;
const MAX_TRANSACTION = 4 * 1_024 * 1_024;
const MAX_TRANSACTION_ITEMS = 100;

const bytes = (text: string): number => Buffer.byteLength(text);

function check(what: string, key: string, max: number): void {
  if (key === "") throw new Error(`ValidationException: ${what} is empty`);
  if (bytes(key) > max) throw new Error(`ValidationException: ${what} has ${bytes(key)} bytes, more than ${max}`);
}

/**
 * Throws as DynamoDB does for an item that it would not take, so that the lab and tests meet its limits. The keys are
 * those of the DynamoDB store; the body is stored deflated.
 */
export function checkItem(item: {
  readonly partition: string;
  readonly sort: string;
  readonly instanceId?: string;
  readonly body?: string;
  /** The attributes that are numbers. */
  readonly numbers?: Readonly<Record<string, number>>;
}): void {
  check("the partition key", item.partition, MAX_PARTITION_KEY);
  check("the sort key", item.sort, MAX_SORT_KEY);
  if (item.instanceId !== undefined) check("the index key instanceId", item.instanceId, MAX_PARTITION_KEY);
  for (const [name, value] of Object.entries(item.numbers ?? {}))
    if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new Error(`ValidationException: the attribute ${name} is ${value}, which is no number that an item can hold`);
  const { body = "" } = item;
  const size = body.length < MAX_ITEM / 2 ? 0 : storedBytes(body) + bytes(item.partition) + bytes(item.sort);
  if (size > MAX_ITEM) throw new Error(`ValidationException: the item has ${size} bytes, more than ${MAX_ITEM}`);
}

const storedBytes = (body: string): number => deflateRawSync(body).length;

/**
 * Throws as DynamoDB does for a transaction of too many items, or of items that are too large together. `bodies`: of
 * the items that are written; one more item is the check of the lease.
 */
export function checkTransaction(bodies: readonly string[]): void {
  if (bodies.length >= MAX_TRANSACTION_ITEMS)
    throw new Error(`ValidationException: a transaction of ${bodies.length + 1} items, more than ${MAX_TRANSACTION_ITEMS}`);
  // What is small before it is deflated need not be deflated to be measured.
  if (bodies.reduce((sum, body) => sum + body.length, 0) < MAX_TRANSACTION / 4) return;
  const size = bodies.reduce((sum, body) => sum + storedBytes(body), 0);
  if (size > MAX_TRANSACTION)
    throw new Error(`ValidationException: the items of a transaction have ${size} bytes together, more than ${MAX_TRANSACTION}`);
}
