import type { Kind } from "../../../core/ports/kubernetes.ts";
import type { ListMemory } from "./list-memory.ts";
import { listPages, PAGE } from "./pages.ts";
import { type Reach, type Reading, type RememberedList, rememberedList } from "./remembered-list.ts";
import { isComparable } from "./resource-version.ts";
import type { ClusterReader } from "./snapshot.ts";

/** Silence after which a watch is taken to have said everything: a server that is quick sends one event right after the other. */
const QUIET_MS = 50;

/** What one decision reads. */
export interface Readings extends ClusterReader {
  /**
   * Settles once it is certain that every list given out was as new as the moment it was asked for: at once when all were, otherwise within two
   * seconds. Throws StaleReadingError when one was not: what was decided on it must not be done.
   */
  prove(): Promise<void>;
}

export interface InformerOptions extends Omit<Reach, "quietMs"> {
  readonly memory: ListMemory;
  readonly cluster: string;
  readonly quietMs?: number;
  /** Lists of more objects are remembered. */
  readonly longerThan?: number;
}

/**
 * The informer that sleeps between calls: gives each decision its readings of one cluster. A list of one page is read anew each time: one small
 * request, exact. A longer one is remembered while the function is warm, and only what has changed since is asked for (remembered-list.ts).
 * Memory is all it holds: a function that is killed or started anew reads from the beginning, and so does one that was frozen for so long that
 * the server has forgotten its version.
 */
export function informer({ memory, cluster, quietMs = QUIET_MS, longerThan = PAGE, ...reach }: InformerOptions): () => Readings {
  return () => {
    const readings: Reading<Kind>[] = [];
    return {
      async list(kind, selectors = {}) {
        const key = JSON.stringify([cluster, kind, selectors.fieldSelector, selectors.labelSelector]);
        const known = memory.get(key) as RememberedList<typeof kind> | undefined;
        if (known === undefined) {
          const { items, resourceVersion } = await listPages(reach.send, kind, selectors);
          if (items.length > longerThan && isComparable(resourceVersion)) {
            memory.set(key, rememberedList({ ...reach, quietMs }, kind, selectors, { items, resourceVersion }));
          }
          return items;
        }
        const reading = await known.read();
        readings.push(reading);
        // It has become short: next time it is read anew.
        if (reading.items.length <= longerThan / 2) memory.forget(key);
        return reading.items;
      },
      async prove() {
        await Promise.all(readings.map(async ({ prove }) => prove()));
        readings.length = 0;
      },
    };
  };
}
