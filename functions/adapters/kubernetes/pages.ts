import type { Kind, Kinds } from "../../../core/ports/kubernetes.ts";
import { failure, unknownKind } from "./errors.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { pruned } from "./prune.ts";
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
 * Reads a list in pages as a consistent read, and keeps of each object what the core reads. Throws RefusedError when
 * the API server does not know the kind.
 */
export async function listPages<K extends Kind>(send: Transport, kind: K, { fieldSelector, labelSelector }: Selectors): Promise<Listed<K>> {
  for (let restarts = 0; restarts <= MAX_RESTARTS; restarts++) {
    const items: Kinds[K][] = [];
    let token: string | undefined;
    for (;;) {
      const page = await readPage(send, kind, { limit: String(PAGE), fieldSelector, labelSelector, continue: token });
      if (page === "expired") {
        break;
      }
      for (const item of page.items) {
        items.push(pruned(kind, item));
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
): Promise<Page<K> | "expired"> {
  const response = await send({ method: "GET", path: pathOf(kind), query });
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
