import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { nodeClaimStore } from "./node-claim-store.ts";
import { type EmbeddedTableOptions, embeddedTable } from "./table-embedded.ts";
import type { Sleep } from "./table-requests.ts";

export type EmbeddedStore = NodeClaimStore & { close(): void };

/**
 * The port NodeClaimStore on an embedded table, in memory or in a file, for the lab and tests. `sleep` is how to wait
 * before a request is repeated.
 */
export function embeddedNodeClaimStore({ sleep, ...options }: EmbeddedTableOptions & { readonly sleep?: Sleep } = {}): EmbeddedStore {
  const table = embeddedTable(options);
  const store = nodeClaimStore(table, { ...(sleep && { sleep }), ...(options.now && { clock: options.now }) });
  return { ...store, close: table.close };
}
