import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { caughtUp } from "./catch-up.ts";
import { failure } from "./errors.ts";
import { type KindCache, kindCache } from "./kind-cache.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { type Listed, listPages, type Selectors } from "./pages.ts";
import type { Keep } from "./prune.ts";
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
  /** What is kept of each object; what the core reads when absent. */
  readonly keep?: Keep;
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
class Remembered<K extends Kind> implements RememberedList<K> {
  readonly #reach: Reach;
  readonly #kind: K;
  readonly #selectors: Selectors;
  #cache: KindCache<K>;
  #watch: Watch | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Claims that are neither proven nor given up. */
  #claims: readonly Claim[] = [];

  constructor(reach: Reach, kind: K, selectors: Selectors, listed: Listed<K> & { readonly resourceVersion: string }) {
    this.#reach = reach;
    this.#kind = kind;
    this.#selectors = selectors;
    this.#cache = kindCache(kind, listed.items, listed.resourceVersion, reach.keep);
  }

  get size(): number {
    return this.#cache.size;
  }

  read(): ReturnType<RememberedList<K>["read"]> {
    return this.#inTurn(async () => {
      const version = await this.#refresh();
      this.#dropReached();
      const items = this.#cache.items();
      if (version === undefined) return { items, prove: async () => {} };
      const claim = { version, disproven: false };
      this.#claims = [...this.#claims, claim];
      return { items, prove: () => this.#inTurn(() => this.#prove(claim)) };
    });
  }

  /** Runs after all earlier calls. */
  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(body);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /**
   * Updates the cache to the present version, or until the watch is silent; returns the version that is then not proven
   * yet.
   */
  async #refresh(): Promise<string | undefined> {
    let version = await this.#follow();
    if (version === "ended" && (await this.#catchUp())) version = await this.#follow();
    if (version !== "ended") return version;
    await this.#listAgain();
    return undefined;
  }

  /** The same by a watch alone; "ended" when it cannot send the changes. */
  async #follow(): Promise<string | undefined> {
    const { send, open, quietMs } = this.#reach;
    this.#close();
    const asked = performance.now();
    const [present, opened] = await Promise.all([
      presentVersion(send, this.#kind),
      openWatch(open, this.#kind, this.#selectors, this.#cache, (version) => this.#disprove(version)).catch(() => undefined),
    ]);
    if (opened === undefined) return "ended";
    this.#watch = opened;
    const silenceMs = Math.max(quietMs, QUIET_PER_ANSWER_TIME * (performance.now() - asked));
    const outcome = isComparable(present) ? await opened.until(present, silenceMs) : "ended";
    if (outcome === "quiet") return present;
    this.#close();
    return outcome === "reached" ? undefined : "ended";
  }

  /** Brings the cache to a version that the server knows, from which a watch must follow. */
  async #catchUp(): Promise<boolean> {
    const { send, caughtUpFrom, keep } = this.#reach;
    if (this.#cache.size < caughtUpFrom) return false;
    const next = await caughtUp(send, this.#kind, this.#selectors, this.#cache, keep);
    if (next === undefined) return false;
    if (next.isOther) this.#disprove(this.#cache.version);
    this.#cache = next.cache;
    return true;
  }

  async #listAgain(): Promise<void> {
    const { items, resourceVersion } = await listPages(this.#reach.send, this.#kind, this.#selectors, this.#reach.keep);
    if (!isComparable(resourceVersion)) throw new Error(`listing ${RESOURCES[this.#kind].plural}: the list has no resource version`);
    const next = kindCache(this.#kind, items, resourceVersion, this.#reach.keep);
    // A change since then cannot be distinguished from one that was missing.
    if (this.#claims.length > 0 && differ(this.#cache, next)) this.#disprove(this.#cache.version);
    this.#cache = next;
  }

  async #prove(claim: Claim): Promise<void> {
    if (!isAtLeast(this.#cache.version, claim.version)) {
      const outcome = await this.#watch?.until(claim.version, BOOKMARK_MS);
      this.#close();
      // No bookmark arrived: a server need not send any.
      if (outcome !== "reached") await this.#listAgain();
      this.#dropReached();
    }
    const { plural } = RESOURCES[this.#kind];
    if (claim.disproven) throw new StaleReadingError(`${plural} changed while they were being read; the next run decides again`);
  }

  #disprove(version: string): void {
    for (const claim of this.#claims) claim.disproven ||= isAtLeast(claim.version, version);
  }

  #dropReached(): void {
    this.#claims = this.#claims.filter(({ version }) => !isAtLeast(this.#cache.version, version));
  }

  #close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}

/** Remembers a list that has just been read: `listed` is what was read. */
export const rememberedList = <K extends Kind>(
  reach: Reach,
  kind: K,
  selectors: Selectors,
  listed: Listed<K> & { readonly resourceVersion: string },
): RememberedList<K> => new Remembered(reach, kind, selectors, listed);

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
