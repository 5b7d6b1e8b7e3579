import { PutItemCommand, type TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { dayOf, daysWithin, inOrder, keyOf, keyPrefixOf } from "#core/history/keys.ts";
import type { HistoryEntry, HistoryRange } from "#core/model/history-entry.ts";
import { calling, packed, queryAll, type Table, toItem, toValues, unpacked } from "./dynamodb-table.ts";

const DAY_SECONDS = 86_400;

/** How many days are read at a time. */
const DAYS_AT_ONCE = 8;

/**
 * The history in the table: one partition for each cluster and day, `history#CLUSTER#2026-11-25`, so that no partition
 * grows without end and code that reads the cluster's records never meets an entry. The sort key begins with the
 * subject (core/history/keys.ts), so that one NodeClaim's entries are found without reading a day's others. Entries
 * expire by the TTL attribute after so many days; with 0 days none are written.
 */
export function dynamoHistory(table: Table, days: number) {
  const itemOf = (entry: HistoryEntry) => ({
    pk: `history#${entry.cluster}#${dayOf(entry.at)}`,
    sk: keyOf(entry),
    at: entry.at,
    ttl: Math.ceil(entry.at / 1_000) + days * DAY_SECONDS,
    entry: packed(entry),
  });
  const kept = (entries: readonly HistoryEntry[]): readonly HistoryEntry[] => (days > 0 ? entries : []);

  return {
    /** The parts of a transaction that write the entries. */
    puts: (entries: readonly HistoryEntry[]): readonly TransactWriteItem[] =>
      kept(entries).map((entry) => ({ Put: { TableName: table.name, Item: toItem(itemOf(entry)) } })),
    kept,
    async addHistory(entries: readonly HistoryEntry[]): Promise<void> {
      for (const entry of kept(entries)) {
        const input = { TableName: table.name, Item: toItem(itemOf(entry)) };
        await calling(table, () => table.client.send(new PutItemCommand(input)));
      }
    },
    async history(cluster: string, { since, until, about }: HistoryRange): Promise<readonly HistoryEntry[]> {
      const found: HistoryEntry[] = [];
      const dates = daysWithin(since, until);
      for (let start = 0; start < dates.length; start += DAYS_AT_ONCE) {
        const pages = await Promise.all(
          dates.slice(start, start + DAYS_AT_ONCE).map((date) => {
            const pk = `history#${cluster}#${date}`;
            const prefix = keyPrefixOf(about);
            const narrowed = prefix === "" ? "" : " AND begins_with(sk, :prefix)";
            return queryAll(table, {
              KeyConditionExpression: `pk = :pk${narrowed}`,
              ExpressionAttributeValues: toValues({ ":pk": pk, ...(prefix !== "" && { ":prefix": prefix }) }),
            });
          }),
        );
        for (const item of pages.flat()) {
          const entry = readable(item["entry"]);
          if (entry !== undefined && entry.at >= since && entry.at < until) found.push(entry);
        }
      }
      return inOrder(found);
    },
  };
}

/** Undefined for bytes that are damaged: one entry that cannot be read must not hide the others. */
function readable(bytes: unknown): HistoryEntry | undefined {
  try {
    return unpacked<HistoryEntry>(bytes);
  } catch {
    return undefined;
  }
}
