import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { StoredHistory } from "./history.ts";
import type { Condition, Key, TableItem } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";

/** The partition of a cluster's records. */
export const partition = (cluster: string): string => `cluster#${cluster}`;

/**
 * The TTL attribute, seconds since the epoch. Expiry is compared at each read, because DynamoDB deletes expired items
 * hours late.
 */
export const ttlOf = (expiresAt: number): number => Math.ceil(expiresAt / 1_000);

export const NEW: Condition = { absent: "pk" };
/** That the item has this version; 0 for one that does not exist. */
export const hasVersion = (version: number): Condition => (version === 0 ? NEW : { attribute: "version", equals: version });

export type VersionedItems = ReturnType<typeof versionedItems>;

/** Writes of items that have a version and a nonce, each with entries of the history or without. */
export function versionedItems(requests: Pick<TableRequests, "write" | "transact">, kept: Pick<StoredHistory, "puts">) {
  return {
    /**
     * Puts an item under a condition; false when it is not met. `nonce` distinguishes a write that the SDK repeated,
     * because its answer was lost, from a second write.
     */
    async put(item: TableItem, condition: Condition, history: readonly HistoryEntry[] = []): Promise<boolean> {
      const entries = kept.puts(history);
      const write = { put: item, if: condition };
      const refused = entries.length > 0 ? (await requests.transact([write, ...entries]))?.[0] : await refusalOf(write);
      return refused === undefined || refused.item?.["nonce"] === item["nonce"];
    },

    /**
     * Deletes an item of this version; true also when it is gone already (then no entry is written), false when it has
     * another version.
     */
    async remove(key: Key, version: number, history: readonly HistoryEntry[] = []): Promise<boolean> {
      const entries = kept.puts(history);
      const isSame = { attribute: "version", equals: version } as const;
      if (entries.length > 0) {
        const refused = await requests.transact([{ delete: key, if: isSame }, ...entries]);
        return refused === undefined || refused[0]?.item === undefined;
      }
      return (await requests.write({ delete: key, if: { anyOf: [{ absent: "pk" }, isSame] } })).isWritten;
    },
  };

  async function refusalOf(write: { readonly put: TableItem; readonly if: Condition }) {
    const result = await requests.write(write);
    return result.isWritten ? undefined : result;
  }
}
