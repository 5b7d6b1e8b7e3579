import { dayOf, daysWithin, inOrder, keyOf, keyPrefixOf } from "#core/history/keys.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { TableItem } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";

const DAY_SECONDS = 86_400;

/** How many days are read at a time. */
const DAYS_AT_ONCE = 8;

export interface StoredHistory extends Pick<NodeClaimStore, "addHistory" | "history"> {
  /** The parts of a transaction that write the entries. */
  puts(entries: readonly HistoryEntry[]): readonly { readonly put: TableItem }[];
  /** The entries that are written at all. */
  kept(entries: readonly HistoryEntry[]): readonly HistoryEntry[];
}

/**
 * The history in the table: one partition for each cluster and day, `history#CLUSTER#2026-11-25`, so that no partition
 * grows without end and code that reads the cluster's records never meets an entry. The sort key begins with the
 * subject (core/history/keys.ts), so that one NodeClaim's entries are found without reading a day's others. Entries
 * expire by the TTL attribute after so many days; with 0 days none are written.
 */
export function storedHistory(requests: TableRequests, days: number): StoredHistory {
  const itemOf = (entry: HistoryEntry): TableItem => ({
    pk: `history#${entry.cluster}#${dayOf(entry.at)}`,
    sk: keyOf(entry),
    at: entry.at,
    ttl: Math.ceil(entry.at / 1_000) + days * DAY_SECONDS,
    entry: requests.pack(entry),
  });
  const kept = (entries: readonly HistoryEntry[]): readonly HistoryEntry[] => (days > 0 ? entries : []);

  return {
    puts: (entries) => kept(entries).map((entry) => ({ put: itemOf(entry) })),
    kept,
    async addHistory(entries) {
      for (const entry of kept(entries)) await requests.write({ put: itemOf(entry) });
    },
    async history(cluster, { since, until, about }) {
      const found: HistoryEntry[] = [];
      const prefix = keyPrefixOf(about);
      const dates = daysWithin(since, until);
      for (let start = 0; start < dates.length; start += DAYS_AT_ONCE) {
        const some = dates.slice(start, start + DAYS_AT_ONCE);
        const pages = await Promise.all(
          some.map((date) => requests.query({ pk: `history#${cluster}#${date}`, prefix, isConsistent: false })),
        );
        for (const item of pages.flat()) {
          // One entry that cannot be read must not hide the others.
          const entry = requests.unpack(item["entry"]) as HistoryEntry | undefined;
          if (entry !== undefined && entry.at >= since && entry.at < until) found.push(entry);
        }
      }
      return inOrder(found);
    },
  };
}
