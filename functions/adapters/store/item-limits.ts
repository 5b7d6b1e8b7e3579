import { deflateRawSync } from "node:zlib";

/** DynamoDB's limits in bytes: of a partition key, of a sort key, of an item. */
const MAX_PARTITION_KEY = 2_048;
const MAX_SORT_KEY = 1_024;
const MAX_ITEM = 400 * 1_024;

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
}): void {
  check("the partition key", item.partition, MAX_PARTITION_KEY);
  check("the sort key", item.sort, MAX_SORT_KEY);
  if (item.instanceId !== undefined) check("the index key instanceId", item.instanceId, MAX_PARTITION_KEY);
  const { body = "" } = item;
  const size = body.length < MAX_ITEM / 2 ? 0 : deflateRawSync(body).length + bytes(item.partition) + bytes(item.sort);
  if (size > MAX_ITEM) throw new Error(`ValidationException: the item has ${size} bytes, more than ${MAX_ITEM}`);
}
