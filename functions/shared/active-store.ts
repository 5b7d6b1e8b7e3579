import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

/** A process that writes marks the cluster as active at most this often, ms. */
const MARK_PERIOD_MS = 20_000;

const activityOf = (cluster: string): string => `activity/${cluster}`;

const EMPTY = new Uint8Array();

/** When the cluster's part of the table may have changed last, ms since the epoch; 0 when it never has. */
export async function lastActivity(cluster: string, { documentVersion }: Pick<NodeClaimStore, "documentVersion">): Promise<number> {
  return Number((await documentVersion(activityOf(cluster))) ?? 0);
}

/** Writes whose first argument names the cluster: a record, a command or a lease. */
const WRITES = [
  ...(["writeIntents", "create", "update", "remove"] as const),
  ...(["createCommand", "updateCommand", "removeCommand"] as const),
] satisfies readonly (keyof NodeClaimStore)[];

/**
 * The store, which marks a cluster as active before its records, commands or marks of offerings change: one small write
 * for each process that writes, every 20 s. A reader that finds the mark unchanged, and old enough for the writes of
 * that time to have ended, need not list the records to know that they are the same (quiet-sweep.ts).
 */
export function activeStore(store: NodeClaimStore, now: () => number): NodeClaimStore {
  const markedAt = new Map<string, number>();
  const mark = async (cluster: string): Promise<void> => {
    const at = now();
    if (Math.abs(at - (markedAt.get(cluster) ?? Number.NEGATIVE_INFINITY)) < MARK_PERIOD_MS) return;
    await store.putDocument(activityOf(cluster), EMPTY, String(at));
    markedAt.set(cluster, at);
  };
  const marking = WRITES.map((method) => {
    const write = store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const marked = async (...args: readonly unknown[]): Promise<unknown> => {
      await mark((args[0] as { readonly cluster: string }).cluster);
      return write(...args);
    };
    return [method, marked] as const;
  });
  return {
    ...store,
    ...Object.fromEntries(marking),
    async markUnavailable(cluster, offerings) {
      await mark(cluster);
      await store.markUnavailable(cluster, offerings);
    },
  };
}
