import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { caughtUp } from "./catch-up.ts";
import { failure } from "./errors.ts";
import { type KindCache, kindCache } from "./kind-cache.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { type Listed, listPages, type Selectors } from "./pages.ts";
import { isAtLeast, isComparable } from "./resource-version.ts";
import type { OpenStream, Transport } from "./transport.ts";
import { BOOKMARK_MS, openWatch, type Watch } from "./watch.ts";

/** A namespace and a name that no object has. */
const NOWHERE = "karpenter-serverless-nowhere";

/** How to reach the API server. */
export interface Reach {
  readonly send: Transport;
  readonly open: OpenStream;
  /** A watch without an event for at least this long is assumed to be up to date, ms. */
  readonly quietMs: number;
  /** Of a list with at least so many objects only those that have changed are read, also when no watch sends them. */
  readonly caughtUpFrom: number;
}

/**
 * A server that answers slowly may also pause between two events: the silence must last this many times as long as its
 * answer took. No benchmark has tuned it.
 */
const QUIET_PER_ANSWER_TIME = 3;

/** A list that is kept between readings and updated with its changes. */
export interface RememberedList<K extends Kind> {
  readonly size: number;
  read(): Promise<Reading<K>>;
}

/** One reading of the list. */
export interface Reading<K extends Kind> {
  readonly items: readonly Kinds[K][];
  /**
   * Settles once the list is known to have been up to date when it was read: at once, or within two seconds. Throws
   * StaleReadingError when the list lacked an earlier change.
   */
  readonly prove: () => Promise<void>;
}

/**
 * A list lacked a change from before it was read. It is not an error of the port, so that no caller mistakes it for the
 * answer to the call that it ends: it reaches the entry, and the message or the next sweep starts again.
 */
export class StaleReadingError extends Error {
  override readonly name = "StaleReadingError";
}

/** The claim "all changes up to this version are in the list", made because the watch was silent. */
interface Claim {
  readonly version: string;
  disproven: boolean;
}

/**
 * Remembers a list that has just been read. A reading asks for the present resource version (a consistent read of an
 * empty list) and watches from the version of the memory:
 * - a change or bookmark at or after the present version proves that nothing is missing;
 * - the API has no event for "that was all", and a bookmark takes a second or two. So after some silence the list is
 *   returned, and the watch continues: the reading's `prove` waits for that bookmark. No effect may rest on the list
 *   before `prove` has settled.
 * When the watch breaks, has expired (410) or ends without a proof, a long list is brought up to the present by its
 * heads (catch-up.ts) and watched again; a shorter one, and one of which too much has changed, is read again. Readings
 * and proofs run one after the other.
 */
export function rememberedList<K extends Kind>(
  { send, open, quietMs, caughtUpFrom }: Reach,
  kind: K,
  selectors: Selectors,
  listed: Listed<K> & { readonly resourceVersion: string },
): RememberedList<K> {
  const { plural } = RESOURCES[kind];
  let cache: KindCache<K> = kindCache(kind, listed.items, listed.resourceVersion);
  let watch: Watch | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  /** Claims that are neither proven nor given up. */
  let claims: readonly Claim[] = [];

  const disprove = (version: string): void => {
    for (const claim of claims) claim.disproven ||= isAtLeast(claim.version, version);
  };
  const dropReached = (): void => {
    claims = claims.filter(({ version }) => !isAtLeast(cache.version, version));
  };
  const close = (): void => {
    watch?.close();
    watch = undefined;
  };

  async function listAnew(): Promise<void> {
    const { items, resourceVersion } = await listPages(send, kind, selectors);
    if (!isComparable(resourceVersion)) throw new Error(`listing ${plural}: the list has no resource version`);
    const next = kindCache(kind, items, resourceVersion);
    // A change since then cannot be distinguished from one that was missing.
    if (claims.length > 0 && differ(cache, next)) disprove(cache.version);
    cache = next;
  }

  /** Brings the cache to a version that the server knows, from which a watch must follow. */
  async function catchUp(): Promise<boolean> {
    if (cache.size < caughtUpFrom) return false;
    const next = await caughtUp(send, kind, selectors, cache);
    if (next === undefined) return false;
    if (next.isOther) disprove(cache.version);
    cache = next.cache;
    return true;
  }

  /**
   * Updates the cache to the present version, or until the watch is silent; returns the version that is then not proven
   * yet.
   */
  async function refresh(): Promise<string | undefined> {
    let version = await follow();
    if (version === "ended" && (await catchUp())) version = await follow();
    if (version !== "ended") return version;
    await listAnew();
    return undefined;
  }

  /** The same by a watch alone; "ended" when it cannot send the changes. */
  async function follow(): Promise<string | undefined> {
    close();
    const asked = performance.now();
    const [present, opened] = await Promise.all([
      presentVersion(send, kind),
      openWatch(open, kind, selectors, cache, disprove).catch(() => undefined),
    ]);
    if (opened !== undefined) {
      watch = opened;
      const silenceMs = Math.max(quietMs, QUIET_PER_ANSWER_TIME * (performance.now() - asked));
      const outcome = isComparable(present) ? await opened.until(present, silenceMs) : "ended";
      if (outcome === "quiet") return present;
      close();
      if (outcome === "reached") return undefined;
    }
    return "ended";
  }

  async function prove(claim: Claim): Promise<void> {
    if (!isAtLeast(cache.version, claim.version)) {
      const outcome = await watch?.until(claim.version, BOOKMARK_MS);
      close();
      // No bookmark arrived: a server need not send any.
      if (outcome !== "reached") await listAnew();
      dropReached();
    }
    if (claim.disproven) throw new StaleReadingError(`${plural} changed while they were being read; the next run decides again`);
  }

  /** Runs after all earlier calls. */
  function inTurn<T>(body: () => Promise<T>): Promise<T> {
    const mine = turn.then(body);
    turn = mine.catch(() => {});
    return mine;
  }

  return {
    get size() {
      return cache.size;
    },
    read: () =>
      inTurn(async () => {
        const version = await refresh();
        dropReached();
        const items = cache.items();
        if (version === undefined) return { items, prove: async () => {} };
        const claim = { version, disproven: false };
        claims = [...claims, claim];
        return { items, prove: () => inTurn(() => prove(claim)) };
      }),
  };
}

/**
 * The kind's present resource version: a list of that version contains everything that was written before. It is read
 * from a list that matches nothing, so that the answer has 90 bytes; the API server confirms it with etcd as for any
 * list.
 */
async function presentVersion(send: Transport, kind: Kind): Promise<string | undefined> {
  const { namespaced, plural } = RESOURCES[kind];
  const response = await send({
    method: "GET",
    path: pathOf(kind, undefined, NOWHERE),
    query: { limit: "1", ...(!namespaced && { fieldSelector: `metadata.name=${NOWHERE}` }) },
  });
  if (response.status < 200 || response.status >= 300) throw failure(response, `asking for the version of ${plural}`);
  return (response.body as { readonly metadata?: { readonly resourceVersion?: string } }).metadata?.resourceVersion;
}

/** Whether one cache has an object that the other lacks or has at another version. */
function differ<K extends Kind>(one: KindCache<K>, other: KindCache<K>): boolean {
  const versions = (cache: KindCache<K>) => new Set(cache.items().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`));
  const known = versions(one);
  return one.size !== other.size || [...versions(other)].some((version) => !known.has(version));
}
