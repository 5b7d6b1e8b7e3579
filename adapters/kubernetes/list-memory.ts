import type { Kind } from "#core/ports/kubernetes.ts";
import type { RememberedList } from "./remembered-list.ts";

/** The lists that the informers of a function remember together. */
export interface ListMemory {
  get(key: string): RememberedList<Kind> | undefined;
  set(key: string, list: RememberedList<Kind>): void;
  forget(key: string): void;
}

/**
 * Room for `maxObjects` objects over all clusters: lists that have not been read for longest are dropped first. The
 * list that was read last stays, whatever its size.
 */
export function listMemory(maxObjects: number): ListMemory {
  // In order of last use.
  const lists = new Map<string, RememberedList<Kind>>();

  const touch = (key: string, list: RememberedList<Kind>): void => {
    lists.delete(key);
    lists.set(key, list);
  };

  return {
    get(key) {
      const list = lists.get(key);
      if (list !== undefined) touch(key, list);
      return list;
    },
    set(key, list) {
      touch(key, list);
      let objects = [...lists.values()].reduce((sum, { size }) => sum + size, 0);
      for (const [oldest, { size }] of lists) {
        if (objects <= maxObjects || oldest === key) return;
        lists.delete(oldest);
        objects -= size;
      }
    },
    forget: (key) => {
      lists.delete(key);
    },
  };
}
