import { ThrottledError } from "#core/ports/errors.ts";
import { meets, updated } from "./conditions.ts";
import { fileRows } from "./file-rows.ts";
import { checkBatch, checkIndexKey, checkItem, checkKey, checkNumbers, checkTransaction, roughBytesOf } from "./item-limits.ts";
import { pastOf } from "./past.ts";
import { memoryRows } from "./rows.ts";
import {
  type Key,
  keyOf,
  type Page,
  type Query,
  type Refusal,
  type Table,
  type TableItem,
  TransactionConflictError,
  type Write,
} from "./table.ts";

/**
 * What DynamoDB may do and an embedded table does only when it is asked to. Each is asked at each request, or for each
 * item of a batch, so that the caller can draw it from a seed.
 */
export interface TableFaults {
  /** How old an eventually consistent read of a partition is, ms. */
  readonly staleMs?: () => number;
  /** How old the index by instance is, ms. */
  readonly indexLagMs?: () => number;
  /** Called when the index has given another answer than the items have. */
  readonly onLateIndex?: () => void;
  readonly isThrottled?: () => boolean;
  /** Whether a transaction of others holds the items of a write. */
  readonly isConflicting?: () => boolean;
  /** Whether an item of a batch is left unprocessed. */
  readonly isUnprocessed?: () => boolean;
  /** About how many bytes a page of a query has; undefined for one page. DynamoDB's have 1 MB. */
  readonly pageBytes?: () => number | undefined;
}

export interface EmbeddedTableOptions {
  /** The file; in memory when absent. Several processes may open one file. */
  readonly path?: string;
  /** ms since the epoch; without it nothing expires by TTL, and no read is late. */
  readonly now?: () => number;
  readonly faults?: TableFaults;
}

type EmbeddedTable = Table & { close(): void };

/** How often expired items are removed, ms. DynamoDB takes up to two days. */
const EXPIRY_MS = 3_600_000;

/** The port Table in this process, for the lab and tests. It has DynamoDB's limits, and its faults when asked to. */
export function embeddedTable({ path, now, faults = {} }: EmbeddedTableOptions = {}): EmbeddedTable {
  const rows = path === undefined ? memoryRows() : fileRows(path);
  const past = now && (faults.staleMs ?? faults.indexLagMs) ? pastOf(now) : undefined;
  let expiresAt = Number.NEGATIVE_INFINITY;

  let isClosed = false;
  const request = (): void => {
    if (isClosed) throw new Error("The embedded table is closed.");
    if (faults.isThrottled?.()) throw new ThrottledError("The embedded table throttles requests; try again later.");
  };
  const writing = (): void => {
    request();
    if (faults.isConflicting?.()) throw new TransactionConflictError("a transaction of others holds the item");
    if (now === undefined || now() < expiresAt) return;
    expiresAt = now() + EXPIRY_MS;
    rows.expire(now());
  };
  const put = (item: TableItem): TableItem => {
    past?.keep(item, rows.read(item));
    rows.write(item);
    return item;
  };
  const remove = (key: Key): void => {
    past?.keep(key, rows.read(key));
    rows.remove(key);
  };
  const refused = (write: Write): Refusal | undefined => {
    if (write.if === undefined) return undefined;
    const item = rows.read(keyOf(write));
    return meets(item, write.if) ? undefined : { item };
  };
  const apply = (write: Write): TableItem | undefined => {
    if ("put" in write) return put(write.put);
    if ("update" in write) return put(checked(updated(write.update, rows.read(write.update), write.by)));
    if ("delete" in write) remove(write.delete);
    return undefined;
  };
  const found = (query: Query): readonly TableItem[] => {
    if (!("instanceId" in query)) {
      const { pk, prefix = "", isConsistent } = query;
      const items = rows.scan(pk, prefix);
      return isConsistent || past === undefined ? items : past.scan(items, { pk, prefix }, faults.staleMs?.() ?? 0);
    }
    checkIndexKey(query.instanceId);
    const items = rows.ofInstance(query.instanceId);
    const late = past?.ofInstance(items, query.instanceId, faults.indexLagMs?.() ?? 0) ?? items;
    if (late.length !== items.length || late.some((item, i) => item !== items[i])) faults.onLateIndex?.();
    return late;
  };

  return {
    name: path ?? "in memory",
    pack: (value) => ({ json: JSON.stringify(value) }),
    unpack: (stored) => JSON.parse((stored as { readonly json: string }).json) as unknown,
    async get(key) {
      request();
      checkKey(key);
      return rows.read(key);
    },
    async query(query, after) {
      request();
      const items = found(query);
      const max = faults.pageBytes?.();
      return max === undefined && after === undefined ? { items } : pageOf(items, after as string | undefined, max);
    },
    async write(given, { returns } = {}) {
      const write = complete(given);
      writing();
      return rows.atomically(() => {
        const refusal = refused(write);
        if (refusal !== undefined) return { isWritten: false, ...refusal };
        const before = returns === "old" ? rows.read(keyOf(write)) : undefined;
        const after = apply(write);
        return { isWritten: true, item: returns === "new" ? after : before };
      });
    },
    async transact(given) {
      const writes = given.map(complete) as typeof given;
      checkTransaction(writes);
      writing();
      return rows.atomically(() => {
        const refusals = writes.map(refused);
        if (refusals.some((refusal) => refusal !== undefined)) return refusals.map((refusal, i) => refusal && answered(refusal, writes[i]));
        for (const write of writes) apply(write);
        return undefined;
      });
    },
    async batchGet(keys) {
      request();
      checkBatch(keys, "reads");
      const [unprocessed, read] = halves(keys, faults.isUnprocessed);
      return { items: read.flatMap((key) => rows.read(key) ?? []), unprocessed };
    },
    async batchWrite(given) {
      const writes = given.map(complete) as typeof given;
      checkBatch(writes.map(keyOf), "writes");
      request();
      const [unprocessed, done] = halves(writes, faults.isUnprocessed);
      rows.atomically(() => {
        for (const write of done) apply(write);
      });
      return unprocessed;
    },
    close: () => {
      isClosed = true;
      rows.close();
    },
  };
}

/** The write as it is stored: without attributes that are undefined. Throws for what DynamoDB would not take. */
function complete(write: Write): Write {
  checkNumbers(write.if, "update" in write ? write.by : undefined);
  if (!("put" in write)) {
    checkKey(keyOf(write));
    return write;
  }
  const { pk, sk } = write.put;
  const attributes = Object.entries(write.put).filter(([, value]) => value !== undefined);
  return { ...write, put: checked({ ...Object.fromEntries(attributes), pk, sk }) };
}

function checked(item: TableItem): TableItem {
  checkItem(item);
  return item;
}

/** The check of a condition alone does not say what is in the way. */
const answered = (refusal: Refusal, write: Write | undefined): Refusal => (write && "check" in write ? {} : refusal);

/** The items of which `isFirst` says so, and the others. */
function halves<T>(items: readonly T[], isFirst: () => boolean = () => false): readonly [readonly T[], readonly T[]] {
  const { yes = [], no = [] } = Object.groupBy(items, () => (isFirst() ? "yes" : "no"));
  return [yes, no];
}

/** The items behind a sort key that fit into a page: at least one. */
function pageOf(items: readonly TableItem[], after: string | undefined, max = Number.POSITIVE_INFINITY): Page {
  const left = after === undefined ? items : items.filter(({ sk }) => sk > after);
  let bytes = 0;
  let end = 0;
  while (end < left.length && (end === 0 || bytes < max)) bytes += roughBytesOf(left[end++] as TableItem);
  return { items: left.slice(0, end), ...(end < left.length && { next: left[end - 1]?.sk }) };
}
