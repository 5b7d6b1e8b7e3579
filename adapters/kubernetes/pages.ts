import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { failure, unknownKind } from "./errors.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { type Keep, pruned } from "./prune.ts";
import type { Transport } from "./transport.ts";

/** Objects per page: about 5 MB of pods, which are parsed and pruned before the next page is read. */
export const PAGE = 500;
/** How often a list starts over when its continuation token has expired (410). */
const MAX_RESTARTS = 3;

/** The selectors of a list, as the API accepts them. */
export interface Selectors {
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** All objects of a list, and the resource version that all its pages were read at. */
export interface Listed<K extends Kind> {
  readonly items: readonly Kinds[K][];
  readonly resourceVersion: string | undefined;
}

/**
 * Reads a list in pages as a consistent read, and keeps of each object what the core reads, or what `keep` returns.
 * Throws RefusedError when the API server does not know the kind.
 */
export const listPages = <K extends Kind>(send: Transport, kind: K, selectors: Selectors, keep: Keep = pruned): Promise<Listed<K>> =>
  everyPage(send, kind, selectors, { limit: PAGE, keep: (item) => keep(kind, item) });

/** Which object, and at which version. */
export interface Head {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** The heads of a list. */
interface ListedHeads {
  readonly items: readonly Head[];
  readonly resourceVersion: string | undefined;
}

/** A server that cannot leave out specs and statuses sends whole objects, which have heads, too. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** Objects per page of metadata, which has about as many bytes as a page of whole pods. */
const PAGE_OF_HEADS = 2_000;

/** Reads which objects a list has and at which versions, as a consistent read: without their specs and statuses. */
export const listHeads = (send: Transport, kind: Kind, selectors: Selectors): Promise<ListedHeads> =>
  everyPage(send, kind, selectors, { limit: PAGE_OF_HEADS, keep: headOf, accept: METADATA_ONLY });

const headOf = ({ metadata: { name, namespace, resourceVersion } }: Kinds[Kind]): Head => ({ name, namespace, resourceVersion });

interface Reading<K extends Kind, T> {
  readonly limit: number;
  readonly keep: (item: Kinds[K]) => T;
  readonly accept?: string;
}

async function everyPage<K extends Kind, T>(
  send: Transport,
  kind: K,
  { fieldSelector, labelSelector }: Selectors,
  { limit, keep, accept }: Reading<K, T>,
): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string | undefined }> {
  for (let restarts = 0; restarts <= MAX_RESTARTS; restarts++) {
    const items: T[] = [];
    let token: string | undefined;
    for (;;) {
      const page = await readPage(send, kind, { limit: String(limit), fieldSelector, labelSelector, continue: token }, accept);
      if (page === "expired") {
        break;
      }
      for (const item of page.items) {
        items.push(keep(item));
      }
      token = page.next;
      if (token === undefined) {
        return { items, resourceVersion: page.resourceVersion };
      }
    }
  }
  throw failure({ status: 429, body: "" }, `listing ${RESOURCES[kind].plural}: the list kept expiring before its last page`);
}

interface Page<K extends Kind> {
  readonly items: readonly Kinds[K][];
  readonly next: string | undefined;
  readonly resourceVersion: string | undefined;
}

async function readPage<K extends Kind>(
  send: Transport,
  kind: K,
  query: Readonly<Record<string, string | undefined>>,
  accept: string | undefined,
): Promise<Page<K> | "expired"> {
  const response = await send({ method: "GET", path: pathOf(kind), query, ...(accept !== undefined && { accept }) });
  if (response.status === 410) {
    return "expired";
  }
  if (response.status === 404) {
    throw unknownKind(kind);
  }
  if (response.status < 200 || response.status >= 300) {
    throw failure(response, `listing ${RESOURCES[kind].plural}`);
  }
  const { items, metadata } = response.body as { items?: Kinds[K][]; metadata?: { continue?: string; resourceVersion?: string } };
  return { items: items ?? [], next: metadata?.continue || undefined, resourceVersion: metadata?.resourceVersion };
}
