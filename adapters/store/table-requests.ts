import { setTimeout } from "node:timers/promises";
import { ConflictError, ThrottledError } from "#core/ports/errors.ts";
import {
  type BatchWrite,
  type Key,
  type Query,
  type Table,
  type TableItem,
  TransactionConflictError,
  type WriteOptions,
  type WriteResult,
} from "./table.ts";

const MAX_ROUNDS = 6;
/** Keys of one batch of reads: an answer has at most 16 MB, and an item 400 KB. */
const READS_AT_ONCE = 40;
const WRITES_AT_ONCE = 25;

/** Waits for so many ms. */
export type Sleep = (ms: number) => Promise<unknown>;

/**
 * The requests of a table that are repeated until they are done: all pages, what a batch left unprocessed, and writes
 * that met a transaction of others.
 */
export interface TableRequests extends Pick<Table, "name" | "pack" | "get" | "write" | "transact"> {
  /** The stored value; undefined when it cannot be read. */
  unpack(stored: unknown): unknown;
  /** The items of all pages. */
  query(query: Query): Promise<readonly TableItem[]>;
  /** Items by key, strongly consistent, in no order; missing ones are left out. */
  getAll(keys: readonly Key[]): Promise<readonly TableItem[]>;
  /** Writes without conditions, in any number. */
  writeAll(writes: readonly BatchWrite[]): Promise<void>;
}

export function tableRequests(table: Table, sleep: Sleep = (ms) => setTimeout(ms)): TableRequests {
  const pause = (round: number): Promise<unknown> => sleep(Math.min(25 * 2 ** round, 800));

  /** Throws ConflictError when the conflicts do not end. */
  async function untilFree<T>(request: () => Promise<T>): Promise<T> {
    for (let round = 0; ; round++) {
      if (round > 0) await pause(round);
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof TransactionConflictError)) throw error;
        if (round + 1 === MAX_ROUNDS)
          throw new ConflictError(`Others kept writing the same items of DynamoDB table ${table.name}; read them again.`, { cause: error });
      }
    }
  }

  /** Sends the parts of a batch, and what each leaves unprocessed again. */
  async function inBatches<T>(all: readonly T[], size: number, what: string, send: (some: readonly T[]) => Promise<readonly T[]>) {
    for (let start = 0; start < all.length; start += size) {
      let left: readonly T[] = all.slice(start, start + size);
      for (let round = 0; left.length > 0; round++) {
        if (round === MAX_ROUNDS) throw new ThrottledError(`DynamoDB table ${table.name} left ${left.length} ${what} unprocessed.`);
        if (round > 0) await pause(round);
        left = await send(left);
      }
    }
  }

  return {
    name: table.name,
    pack: table.pack,
    unpack: (stored): unknown => {
      try {
        return table.unpack(stored);
      } catch {
        return undefined;
      }
    },
    get: (key, attributes) => table.get(key, attributes),
    async query(query) {
      const first = await table.query(query);
      if (first.next === undefined) return first.items;
      const items = [...first.items];
      for (let after: unknown = first.next; after !== undefined; ) {
        const page = await table.query(query, after);
        items.push(...page.items);
        after = page.next;
      }
      return items;
    },
    write: (write, options?: WriteOptions): Promise<WriteResult> => untilFree(() => table.write(write, options)),
    transact: (writes) => untilFree(() => table.transact(writes)),
    async getAll(keys) {
      const items: TableItem[] = [];
      await inBatches(keys, READS_AT_ONCE, "reads", async (some) => {
        const answer = await table.batchGet(some);
        items.push(...answer.items);
        return answer.unprocessed;
      });
      return items;
    },
    writeAll: (writes) => inBatches(writes, WRITES_AT_ONCE, "writes", (some) => table.batchWrite(some)),
  };
}
