import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { failure } from "./errors.ts";
import { type KindCache, kindCache } from "./kind-cache.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { type Head, listHeads, type Selectors } from "./pages.ts";
import { type Keep, pruned } from "./prune.ts";
import { isComparable } from "./resource-version.ts";
import type { Transport } from "./transport.ts";

/**
 * How many objects are read by name. They take four seconds of KUBE_CLIENT_QPS after its burst, and the API server a
 * fraction of what a list of thousands costs it.
 */
const MAX_READ_BY_NAME = 1_000;

interface CaughtUp<K extends Kind> {
  readonly cache: KindCache<K>;
  /** Whether it has other objects, or others' versions, than before. */
  readonly isOther: boolean;
}

/**
 * A list at its present version, of which only the objects that have changed are read: first names and versions of all,
 * then by name those that the cache has not. This serves when no watch can send the changes, because the API server has
 * forgotten the version of the cache. An API server keeps the changes of the last 75 s, or the last hundred of a kind
 * when they are older: a function that was asleep for longer, and one that wakes to a burst of pods after a quiet
 * minute, would read 50,000 pods again.
 *
 * An object that is read by name may be newer than the version of the list. So the cache is no reading yet: a watch
 * from its version must follow, which sends that object's changes again. Undefined when so many objects have changed
 * that the whole list costs less, and when the list has no resource version.
 */
export async function caughtUp<K extends Kind>(
  send: Transport,
  kind: K,
  selectors: Selectors,
  cache: KindCache<K>,
  keep: Keep = pruned,
): Promise<CaughtUp<K> | undefined> {
  const { items: heads, resourceVersion } = await listHeads(send, kind, selectors);
  if (!isComparable(resourceVersion)) return undefined;
  const known = (head: Head): Kinds[K] | undefined => {
    const object = cache.get(head);
    return object?.metadata.resourceVersion === head.resourceVersion ? object : undefined;
  };
  const changed = heads.filter((head) => known(head) === undefined);
  if (changed.length > MAX_READ_BY_NAME) return undefined;
  const read = new Map(await Promise.all(changed.map(async (head) => [head, await readByName(send, kind, head, keep)] as const)));
  const items = heads.flatMap((head) => known(head) ?? read.get(head) ?? []);
  return { cache: kindCache(kind, items, resourceVersion, keep), isOther: changed.length > 0 || heads.length !== cache.size };
}

/** Undefined when it has gone meanwhile. */
async function readByName<K extends Kind>(send: Transport, kind: K, { name, namespace }: Head, keep: Keep): Promise<Kinds[K] | undefined> {
  const response = await send({ method: "GET", path: pathOf(kind, name, namespace) });
  if (response.status === 404) return undefined;
  if (response.status < 200 || response.status >= 300) throw failure(response, `reading ${RESOURCES[kind].plural} by name`);
  return keep(kind, response.body as Kinds[K]);
}
