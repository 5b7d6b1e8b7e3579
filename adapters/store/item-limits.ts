import { deflateRawSync } from "node:zlib";
import { type Condition, type Key, keyOf, type TableItem, type Update, type UpdateWrite, type Write } from "./table.ts";

/** DynamoDB's limits in bytes: of a partition key, of a sort key, of an item, of all items of a transaction. */
const MAX_PARTITION_KEY = 2_048;
const MAX_SORT_KEY = 1_024;
export const MAX_ITEM = 400 * 1_024;
const MAX_TRANSACTION = 4 * 1_024 * 1_024;
const MAX_TRANSACTION_ITEMS = 100;
const MAX_WRITES = 25;
const MAX_READS = 100;

const bytes = (text: string): number => Buffer.byteLength(text);

const invalid = (problem: string): Error => new Error(`ValidationException: ${problem}`);

function checkText(what: string, key: string, max: number): void {
  if (key === "") throw invalid(`${what} is empty`);
  // A character has at most three bytes here.
  if (key.length * 3 > max && bytes(key) > max) throw invalid(`${what} has ${bytes(key)} bytes, more than ${max}`);
}

function checkNumber(attribute: string, value: number): void {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw invalid(`the attribute ${attribute} is ${value}, which is no number that an item can hold`);
}

// Throw as DynamoDB does for what it would not take, so that the lab and tests meet its limits.

export function checkKey({ pk, sk }: Key): void {
  checkText("the partition key", pk, MAX_PARTITION_KEY);
  checkText("the sort key", sk, MAX_SORT_KEY);
}

export const checkIndexKey = (instanceId: string): void => checkText("the index key instanceId", instanceId, MAX_PARTITION_KEY);

export function checkItem(item: TableItem): void {
  checkKey(item);
  let rough = 0;
  for (const [attribute, value] of Object.entries(item)) {
    if (typeof value === "number") checkNumber(attribute, value);
    else if (value instanceof Set && value.size === 0) throw invalid(`the attribute ${attribute} is an empty set`);
    else if (attribute === "instanceId" && typeof value === "string") checkIndexKey(value);
    rough += attribute.length + roughBytes(value);
  }
  // What is small before it is deflated need not be deflated to be measured.
  if (rough < MAX_ITEM / 2) return;
  const size = bytesOf(item);
  if (size > MAX_ITEM) throw invalid(`the item has ${size} bytes, more than ${MAX_ITEM}`);
}

/** The numbers that a condition compares with or an update writes. */
export function checkNumbers(condition: Condition | undefined, { set = {}, add = {} }: Update = {}): void {
  const tests =
    condition === undefined ? [] : "anyOf" in condition ? condition.anyOf : "allOf" in condition ? condition.allOf : [condition];
  for (const test of tests) {
    for (const [attribute, value] of Object.entries(test)) if (typeof value === "number") checkNumber(attribute, value);
  }
  for (const [attribute, value] of Object.entries({ ...set, ...add })) if (typeof value === "number") checkNumber(attribute, value);
}

/** A transaction of too many items, of the same item twice, or of items that are too large together. */
export function checkTransaction(writes: readonly Exclude<Write, UpdateWrite>[]): void {
  if (writes.length > MAX_TRANSACTION_ITEMS) throw invalid(`a transaction of ${writes.length} items, more than ${MAX_TRANSACTION_ITEMS}`);
  checkKeys(writes.map(keyOf), "a transaction");
  const items = writes.flatMap((write) => ("put" in write ? [write.put] : []));
  if (items.reduce((sum, item) => sum + roughBytesOf(item), 0) < MAX_TRANSACTION / 4) return;
  const size = items.reduce((sum, item) => sum + bytesOf(item), 0);
  if (size > MAX_TRANSACTION) throw invalid(`the items of a transaction have ${size} bytes together, more than ${MAX_TRANSACTION}`);
}

export function checkBatch(keys: readonly Key[], kind: "reads" | "writes"): void {
  const max = kind === "reads" ? MAX_READS : MAX_WRITES;
  if (keys.length > max) throw invalid(`a batch of ${keys.length} ${kind}, more than ${max}`);
  checkKeys(keys, "a batch");
}

function checkKeys(keys: readonly Key[], what: string): void {
  if (new Set(keys.map(({ pk, sk }) => `${pk} ${sk}`)).size < keys.length) throw invalid(`${what} names one item twice`);
}

/** The size of an item, bytes. */
const bytesOf = (item: TableItem): number =>
  Object.entries(item).reduce((sum, [attribute, value]) => sum + bytes(attribute) + valueBytes(value), 0);

function valueBytes(value: unknown): number {
  if (typeof value === "string") return bytes(value);
  if (value instanceof Uint8Array) return value.length;
  const json = jsonOf(value);
  return json === undefined ? roughBytes(value) : deflateRawSync(json).length;
}

/** The size of an item before it is deflated, bytes, without the names of its attributes. */
export const roughBytesOf = (item: TableItem): number => Object.values(item).reduce<number>((sum, value) => sum + roughBytes(value), 0);

function roughBytes(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (value instanceof Set) return [...(value as ReadonlySet<string>)].reduce((sum, text) => sum + text.length, 0);
  // A number takes up to 21 bytes.
  return typeof value === "number" ? 21 : (jsonOf(value)?.length ?? 0);
}

/** The text of a record that DynamoDB's table would deflate (table-embedded.ts). */
const jsonOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "json" in value ? String(value.json) : undefined;
