import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

type Table = NodeClaimStore & { close(): void };

/**
 * The table with an index by instance that lags, as a global secondary index of DynamoDB may: an instance that was
 * written less than `lagMs()` ago is not found.
 */
export function withLateIndex(table: Table, now: () => number, lagMs: () => number, missed: () => void): Table {
  const written = new Map<string, number>();
  return {
    ...table,
    update: (record, history) => {
      const id = record.instance?.id;
      if (id !== undefined && !written.has(id)) written.set(id, now());
      return table.update(record, history);
    },
    byInstance: async (id) => {
      if (now() - (written.get(id) ?? Number.NEGATIVE_INFINITY) >= lagMs()) return table.byInstance(id);
      missed();
      return undefined;
    },
  };
}
