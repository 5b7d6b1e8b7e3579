/**
 * The port that the stores are written on: one DynamoDB table (pk, sk, the index `byInstance` on instanceId, and the
 * TTL attribute `ttl` in seconds), or an embedded one that keeps the same rules. One call is one request. A table
 * throws ThrottledError, RefusedError when it does not exist, and TransactionConflictError; nothing is repeated here
 * (table-requests.ts).
 */
export interface Table {
  /** For sentences. */
  readonly name: string;
  /** The stored form of a record: deflated JSON in DynamoDB, because reads and writes are priced by size. */
  pack(value: unknown): unknown;
  /** Throws when the stored form is damaged. */
  unpack(stored: unknown): unknown;
  /** Strongly consistent; `attributes` are the only ones that are returned. */
  get(key: Key, attributes?: readonly string[]): Promise<TableItem | undefined>;
  /** One page, of at most 1 MB; `next` continues behind it. */
  query(query: Query, after?: unknown): Promise<Page>;
  write(write: Write, options?: WriteOptions): Promise<WriteResult>;
  /**
   * At most 100 writes of different items, 4 MB together: all or none. Undefined when they are done, otherwise the
   * refusals by the order of the writes.
   */
  transact(writes: readonly Exclude<Write, UpdateWrite>[]): Promise<readonly (Refusal | undefined)[] | undefined>;
  /** At most 100 items, strongly consistent, in no order; 16 MB are returned at most. Missing ones are left out. */
  batchGet(keys: readonly Key[]): Promise<{ readonly items: readonly TableItem[]; readonly unprocessed: readonly Key[] }>;
  /** At most 25 writes of different items, without conditions; returns those that were not done. */
  batchWrite(writes: readonly BatchWrite[]): Promise<readonly BatchWrite[]>;
}

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Attributes are numbers, texts, bytes, sets of texts, lists and maps of them, and what `pack` returns. */
export type TableItem = Readonly<Record<string, unknown>> & Key;

/** A partition's items in the order of their sort keys; or those of an EC2 instance, eventually consistent. */
export type Query =
  | {
      readonly pk: string;
      /** What the sort keys begin with; all of the partition without it. */
      readonly prefix?: string;
      /** An eventually consistent read has half the price. */
      readonly isConsistent: boolean;
      /** The only attributes that are returned. */
      readonly attributes?: readonly string[];
      readonly timeoutMs?: number;
    }
  | { readonly instanceId: string };

export interface Page {
  readonly items: readonly TableItem[];
  readonly next?: unknown;
}

/** A test of one attribute. A comparison with an attribute that is absent is false. */
export type Test =
  | { readonly absent: string }
  | { readonly attribute: string; readonly equals: string | number }
  | { readonly attribute: string; readonly atMost: number }
  | { readonly attribute: string; readonly below: number }
  /** Absent, or of another type. */
  | { readonly notNumber: string };

export type Condition = Test | { readonly anyOf: readonly Test[] } | { readonly allOf: readonly Test[] };

/** Changes of an item, which is made when there is none. */
export interface Update {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly setIfAbsent?: Readonly<Record<string, unknown>>;
  /** Numbers are added, sets united. */
  readonly add?: Readonly<Record<string, number | ReadonlySet<string>>>;
  readonly remove?: readonly string[];
}

export type BatchWrite = { readonly put: TableItem } | { readonly delete: Key };
export type UpdateWrite = { readonly update: Key; readonly by: Update; readonly if?: Condition };
export type Write = ((BatchWrite | UpdateWrite) & { readonly if?: Condition }) | { readonly check: Key; readonly if: Condition };

export interface WriteOptions {
  /** The item before or after the write, which the result has then. */
  readonly returns?: "old" | "new";
  readonly timeoutMs?: number;
}

/** A condition was not met, and nothing is written; `item` is the one that was in the way. */
export interface Refusal {
  readonly item?: TableItem | undefined;
}

export type WriteResult = Refusal & { readonly isWritten: boolean };

/** A transaction of another writer holds one of the items. The same request can succeed a moment later. */
export class TransactionConflictError extends Error {
  override readonly name = "TransactionConflictError";
}

/** The key of the item that a write is about. */
export function keyOf(write: Write): Key {
  if ("put" in write) return write.put;
  if ("delete" in write) return write.delete;
  return "update" in write ? write.update : write.check;
}
