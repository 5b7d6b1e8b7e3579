import type { Kind } from "#core/ports/kubernetes.ts";
import type { KindCache, WatchEvent } from "./kind-cache.ts";
import { pathOf } from "./kinds.ts";
import type { Selectors } from "./pages.ts";
import { isAtLeast } from "./resource-version.ts";
import type { OpenStream } from "./transport.ts";

/**
 * The time-out of a watch, s. The API server sends a bookmark about 2 s before a watch's time-out, give or take one,
 * and none for a time-out of 2 s or less
 * (kubernetes: staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go, cacheWatcher.nextBookmarkTime).
 * Measured with three seconds on Kubernetes 1.36: after 0.3 to 1.9 s, 0.9 s on average.
 */
const WATCH_SECONDS = 3;
/** After this time a bookmark has arrived, or none will. */
export const BOOKMARK_MS = (WATCH_SECONDS + 1) * 1_000;
/** Events wait in the socket while a plan is made; a watch that was abandoned is closed after this time. */
const LIFETIME_MS = 60_000;

/** A watch that updates one cache. */
export interface Watch {
  /**
   * Waits until all changes up to `version` are in the cache ("reached") or, with `quietMs`, until no event has arrived
   * for so long ("quiet"). "ended": the watch is over before that, and what is missing will not arrive.
   */
  until(version: string, quietMs?: number): Promise<"reached" | "quiet" | "ended">;
  close(): void;
}

/**
 * Watches a list from the version of its cache. `onChange` gets the version of each change once it is in the cache,
 * except for bookmarks. A watch that the server refuses, as it does when it has forgotten that version (410), ends at
 * once. Rejects when the server cannot be reached.
 */
export async function openWatch<K extends Kind>(
  open: OpenStream,
  kind: K,
  { fieldSelector, labelSelector }: Selectors,
  cache: KindCache<K>,
  onChange: (version: string) => void,
): Promise<Watch> {
  let over = false;
  let collected = () => {};
  const onLine = (line: string): void => {
    if (over) return;
    const event = JSON.parse(line) as WatchEvent<K> | { readonly type: "ERROR" };
    // An ERROR, such as a late 410, is the last event that a server sends.
    if (event.type === "ERROR") over = true;
    else if (cache.apply(event) && event.type !== "BOOKMARK") onChange(cache.version);
    collected();
  };
  const query = {
    watch: "1",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(WATCH_SECONDS),
    resourceVersion: cache.version,
    ...{ fieldSelector, labelSelector },
  };
  const stream = await open({ method: "GET", path: pathOf(kind), query }, onLine, LIFETIME_MS);
  const end = (): void => {
    over = true;
    collected();
  };
  stream.ended.then(end, end);

  return {
    until: (version, quietMs) =>
      new Promise((resolve) => {
        let timer: NodeJS.Timeout | undefined;
        const settle = (outcome: "reached" | "quiet" | "ended"): void => {
          clearTimeout(timer);
          collected = () => {};
          resolve(outcome);
        };
        collected = () => {
          clearTimeout(timer);
          if (isAtLeast(cache.version, version)) settle("reached");
          else if (over) settle("ended");
          else if (quietMs !== undefined) timer = setTimeout(settle, quietMs, "quiet");
        };
        collected();
      }),
    close() {
      stream.close();
      end();
    },
  };
}
