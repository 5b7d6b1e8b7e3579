import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { Signal } from "../../core/signals/signal.ts";

/** Names of NodeClaims by provider id, for the nodes that signals are about, as far as this product launched them. */
export async function claimsByProviderId(
  signals: readonly Signal[],
  store: Pick<NodeClaimStore, "byInstance">,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(signals.flatMap((signal) => (signal.kind === "node-changed" && signal.providerId ? [signal.providerId] : [])));
  const found = await Promise.all(
    [...ids].map(async (id) => [id, (await store.byInstance(id.slice(id.lastIndexOf("/") + 1)))?.name] as const),
  );
  return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])));
}
