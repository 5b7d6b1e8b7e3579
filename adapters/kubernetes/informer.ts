import type { Kind } from "#core/ports/kubernetes.ts";
import type { ListMemory } from "./list-memory.ts";
import { listPages, PAGE } from "./pages.ts";
import { type Reach, type Reading, type RememberedList, rememberedList } from "./remembered-list.ts";
import { isComparable } from "./resource-version.ts";
import type { ClusterReader } from "./snapshot.ts";

/**
 * A watch without an event for this long is assumed to be up to date, ms: a fast server sends one event right after the
 * other.
 */
const QUIET_MS = 50;

/** From so many objects on, four pages, the whole list costs more than names and versions of all. */
const CAUGHT_UP_FROM = 4 * PAGE;

/** The lists of one decision. */
export interface Readings extends ClusterReader {
  /**
   * Settles once every list that was returned is known to have been up to date when it was read: at once if all are,
   * otherwise within two seconds. Throws StaleReadingError when one was not; what was decided on it must then not be
   * done.
   */
  prove(): Promise<void>;
}

interface InformerOptions extends Omit<Reach, "quietMs" | "caughtUpFrom">, Partial<Pick<Reach, "quietMs" | "caughtUpFrom">> {
  readonly memory: ListMemory;
  readonly cluster: string;
  /** Lists with more objects than this are remembered. */
  readonly longerThan?: number;
}

/**
 * An informer that sleeps between calls: it gives each decision its lists of one cluster. A list of one page is read
 * from the API server each time, because one small request is exact. A longer list is remembered while the function is
 * warm, and only its changes are read (remembered-list.ts), also when it was frozen for so long that the server has
 * forgotten its resource version (catch-up.ts). It holds nothing but memory: a function that was killed or newly
 * started reads from the beginning.
 */
export function informer(options: InformerOptions): () => Readings {
  const { memory, cluster, quietMs = QUIET_MS, caughtUpFrom = CAUGHT_UP_FROM, longerThan = PAGE, send, open } = options;
  const reach: Reach = { send, open, quietMs, caughtUpFrom, ...(options.keep && { keep: options.keep }) };
  return () => {
    const readings: Reading<Kind>[] = [];
    return {
      async list(kind, selectors = {}) {
        const key = JSON.stringify([cluster, kind, selectors.fieldSelector, selectors.labelSelector]);
        const known = memory.get(key) as RememberedList<typeof kind> | undefined;
        if (known === undefined) {
          const { items, resourceVersion } = await listPages(reach.send, kind, selectors, reach.keep);
          if (items.length > longerThan && isComparable(resourceVersion)) {
            memory.set(key, rememberedList(reach, kind, selectors, { items, resourceVersion }));
          }
          return items;
        }
        const reading = await known.read();
        readings.push(reading);
        // The list has become short: read it from the API server next time.
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
