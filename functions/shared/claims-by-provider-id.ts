import { instanceIdOf } from "#core/model/instance.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { Signal } from "#core/signals/signal.ts";

/** EC2's have 19 characters. */
const MAX_INSTANCE_ID = 64;

/** Names of NodeClaims by provider id, for the nodes that signals are about, as far as this product launched them. */
export async function claimsByProviderId(
  signals: readonly Signal[],
  store: Pick<NodeClaimStore, "byInstance">,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(signals.flatMap((signal) => (signal.kind === "node-changed" && signal.providerId ? [signal.providerId] : [])));
  const found = await Promise.all([...ids].map(async (id) => [id, (await recordByProviderId(id, store))?.name] as const));
  return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])));
}

/** The record of the NodeClaim whose instance a providerID names. */
export async function recordByProviderId(
  providerId: string,
  store: Pick<NodeClaimStore, "byInstance">,
): Promise<NodeClaimRecord | undefined> {
  const id = instanceIdOf(providerId);
  // A node may have any providerID, and the store takes no empty key and no long one.
  return id === undefined || id.length > MAX_INSTANCE_ID ? undefined : store.byInstance(id);
}
