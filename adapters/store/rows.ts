import type { Key, TableItem } from "./table.ts";

/** Where an embedded table keeps its items. */
export interface Rows {
  read(key: Key): TableItem | undefined;
  /** In the order of sort keys. */
  scan(pk: string, prefix: string): readonly TableItem[];
  /** The items of an instance: the index. */
  ofInstance(instanceId: string): readonly TableItem[];
  write(item: TableItem): void;
  remove(key: Key): void;
  /** Removes what the TTL attribute says has expired; `now` in ms. */
  expire(now: number): void;
  /** All of `act`, or nothing when it throws. Nobody else writes meanwhile. */
  atomically<T>(act: () => T): T;
  close(): void;
}

interface Partition {
  readonly items: Map<string, TableItem>;
  /** The sort keys in order. */
  readonly order: string[];
}

/** Rows in memory: a map of items and a sorted list of keys for each partition. `atomically` undoes nothing. */
export function memoryRows(): Rows {
  const partitions = new Map<string, Partition>();
  const byInstance = new Map<string, Map<string, Key>>();

  const indexed = (item: TableItem | undefined, isThere: boolean): void => {
    const id = item?.["instanceId"];
    if (item === undefined || typeof id !== "string") return;
    const keys = byInstance.get(id) ?? new Map<string, Key>();
    if (isThere) byInstance.set(id, keys.set(`${item.pk} ${item.sk}`, item));
    else if (keys.delete(`${item.pk} ${item.sk}`) && keys.size === 0) byInstance.delete(id);
  };
  const read: Rows["read"] = ({ pk, sk }) => partitions.get(pk)?.items.get(sk);
  const remove: Rows["remove"] = ({ pk, sk }) => {
    const partition = partitions.get(pk);
    const former = partition?.items.get(sk);
    if (partition === undefined || former === undefined) return;
    indexed(former, false);
    partition.items.delete(sk);
    partition.order.splice(position(partition.order, sk), 1);
    if (partition.items.size === 0) partitions.delete(pk);
  };

  return {
    read,
    scan(pk, prefix) {
      const partition = partitions.get(pk);
      if (partition === undefined) return [];
      const { items, order } = partition;
      const found: TableItem[] = [];
      for (let i = position(order, prefix); i < order.length && order[i]?.startsWith(prefix); i++)
        found.push(items.get(order[i] as string) as TableItem);
      return found;
    },
    ofInstance: (instanceId) => [...(byInstance.get(instanceId)?.values() ?? [])].flatMap((key) => read(key) ?? []),
    write(item) {
      const { pk, sk } = item;
      const partition = partitions.get(pk) ?? { items: new Map(), order: [] };
      partitions.set(pk, partition);
      const former = partition.items.get(sk);
      if (former === undefined) partition.order.splice(position(partition.order, sk), 0, sk);
      if (former?.["instanceId"] !== item["instanceId"]) indexed(former, false);
      partition.items.set(sk, item);
      indexed(item, true);
    },
    remove,
    expire(now) {
      for (const { items } of partitions.values()) {
        for (const item of items.values()) {
          if (typeof item["ttl"] === "number" && item["ttl"] * 1_000 <= now) remove(item);
        }
      }
    },
    atomically: (act) => act(),
    close: () => partitions.clear(),
  };
}

/** The first place in an ordered list whose text is not below `text`. */
function position(order: readonly string[], text: string): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((order[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
