import type { Kind } from "../../../core/ports/kubernetes.ts";
import type { KindCache, WatchEvent } from "./kind-cache.ts";
import { pathOf } from "./kinds.ts";
import type { Selectors } from "./pages.ts";
import { isAtLeast } from "./resource-version.ts";
import type { OpenStream } from "./transport.ts";

/**
 * A watch that shall last T seconds gets a bookmark at T - 2 s, give or take one (Kubernetes storage/cacher: nextBookmarkTime and its buckets), and none
 * when T is 2 or less. Measured with three seconds on 1.36: after 0.3 to 1.9 s, 0.9 s on average.
 */
const WATCH_SECONDS = 3;
/** By then a bookmark has come, or none will. */
export const BOOKMARK_MS = (WATCH_SECONDS + 1) * 1_000;
/** What the server has said waits in the socket while a plan is made, which takes its time; a watch that was left behind is closed by then. */
const LIFETIME_MS = 60_000;

/** A watch that brings one cache forward. */
export interface Watch {
  /**
   * Waits until all changes up to `version` are in ("reached"), or, with `quietMs`, until nothing has come for so long ("quiet"). "ended": the
   * watch is over before that, and what is missing will not come.
   */
  until(version: string, quietMs?: number): Promise<"reached" | "quiet" | "ended">;
  close(): void;
}

/**
 * Watches a list from where its cache stands. `onChange` hears the version of each change once it is in, bookmarks apart. A watch that the server
 * refuses, as it does when it has forgotten that version (410), ends at once. Rejects when the server cannot be reached.
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
    // An ERROR, as a 410 that comes late, is the last thing that a server says.
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
