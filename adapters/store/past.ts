import type { Key, TableItem } from "./table.ts";

/** No read is older than this, ms. */
const MAX_AGE_MS = 600_000;

interface Change extends Key {
  /** ms since the epoch. */
  readonly at: number;
  /** Undefined when there was none. */
  readonly before: TableItem | undefined;
}

/** What items were before their last changes, for reads that are late. */
export function pastOf(now: () => number) {
  let changes: Change[] = [];

  /** The items as they were `ms` ago, of those that `isWanted` selects. */
  const undone = (items: readonly TableItem[], isWanted: (change: Change) => boolean, ms: number): readonly TableItem[] => {
    const since = now() - ms;
    const late = changes.filter((change) => change.at > since && isWanted(change));
    if (late.length === 0) return items;
    const byKey = new Map(items.map((item) => [`${item.pk} ${item.sk}`, item]));
    for (const { pk, sk, before } of late.toReversed()) {
      if (before === undefined) byKey.delete(`${pk} ${sk}`);
      else byKey.set(`${pk} ${sk}`, before);
    }
    return [...byKey.values()].sort((a, b) => (a.sk < b.sk ? -1 : 1));
  };

  return {
    /** Called before each change of an item. */
    keep({ pk, sk }: Key, before: TableItem | undefined): void {
      const at = now();
      const [oldest] = changes;
      if (oldest !== undefined && oldest.at < at - 2 * MAX_AGE_MS) changes = changes.filter((change) => change.at >= at - MAX_AGE_MS);
      changes.push({ at, pk, sk, before });
    },
    scan: (items: readonly TableItem[], { pk, prefix }: { readonly pk: string; readonly prefix: string }, ms: number) =>
      ms <= 0 ? items : undone(items, (change) => change.pk === pk && change.sk.startsWith(prefix), ms),
    ofInstance: (items: readonly TableItem[], instanceId: string, ms: number): readonly TableItem[] => {
      if (ms <= 0) return items;
      const keys = new Set(changes.flatMap(({ pk, sk, before }) => (before?.["instanceId"] === instanceId ? [`${pk} ${sk}`] : [])));
      for (const { pk, sk } of items) keys.add(`${pk} ${sk}`);
      return undone(items, ({ pk, sk }) => keys.has(`${pk} ${sk}`), ms).filter((item) => item["instanceId"] === instanceId);
    },
  };
}
