import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import { MAX_ITEM } from "./item-limits.ts";

/** A DynamoDB transaction holds 100 items; one of them is the check of the lease. */
const MAX_WRITES = 99;
/** And 4 MB, keys and attributes besides the record included; a record counts before it is deflated. */
const MAX_BYTES = 3_500_000;

/** What one transaction writes beside the check of the lease. */
export interface IntentBatch {
  /** Each with the entries that are written only if it is. */
  readonly intents: readonly { readonly record: NodeClaimRecord; readonly history: readonly HistoryEntry[] }[];
  /** Entries that tell of no intent; in the first batch only, with the command. */
  readonly history: readonly HistoryEntry[];
}

/**
 * Cuts intents, with the entries that tell of them, into the transactions that write them, in order, by their number
 * and size; the first one leaves room for the command if there is one: one item, of at most the size of a record.
 * Duplicate intents are written once. There is always at least one batch, so that the lease is checked and the command
 * is written even without intents. Throws ConflictError when two intents have the same name.
 */
export function intentBatches(
  records: readonly NodeClaimRecord[],
  withCommand: boolean,
  history: readonly HistoryEntry[] = [],
): readonly IntentBatch[] {
  const byName = new Map<string, NodeClaimRecord>();
  for (const record of records) {
    const other = byName.get(`${record.cluster}/${record.name}`);
    if (other !== undefined && other.intentId !== record.intentId) {
      throw new ConflictError(`NodeClaim ${record.name} was already made by another intent.`);
    }
    byName.set(`${record.cluster}/${record.name}`, other ?? record);
  }
  const told = Map.groupBy(history, (entry) => ("nodeClaim" in entry ? `${entry.cluster}/${entry.nodeClaim}` : ""));
  const others = [...told].flatMap(([name, entries]) => (byName.has(name) ? [] : entries));
  const batches: { intents: IntentBatch["intents"][number][]; history: readonly HistoryEntry[] }[] = [{ intents: [], history: others }];
  let left = MAX_WRITES - (withCommand ? 1 : 0) - others.length;
  let bytes = (withCommand ? MAX_ITEM : 0) + sizeOf(others);
  for (const [name, record] of byName) {
    const entries = told.get(name) ?? [];
    const writes = 1 + entries.length;
    const size = sizeOf([record, ...entries]);
    if (writes > left || bytes + size > MAX_BYTES) {
      batches.push({ intents: [], history: [] });
      left = MAX_WRITES;
      bytes = 0;
    }
    batches.at(-1)?.intents.push({ record, history: entries });
    left -= writes;
    bytes += size;
  }
  return batches;
}

const sizeOf = (items: readonly object[]): number => items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0);
