import { jsonBytes } from "#adapters/store/json-bytes.ts";
import type { BlockedNode } from "#core/disruption/cluster/blocked.ts";
import { staysOf } from "#core/disruption/reports/stays.ts";
import { type Stays, staysDocument } from "#core/history/stays.ts";
import { contentHash } from "#core/lib/fnv.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

/** Prices in reasons change with each pass; so often they are written at most. */
const MIN_AGE_MS = 5 * 60_000;

/**
 * Keeps why nodes stay, for the command `why`: it is written when it has changed, and no decision reads it. The version
 * of the document says what it holds, so nothing is remembered between two passes.
 */
export async function keepStays(
  blocked: readonly BlockedNode[],
  { cluster, store, now }: Pick<ClusterDeps, "cluster" | "store" | "now">,
): Promise<void> {
  if (blocked.length === 0) return;
  const name = staysDocument(cluster.name);
  const nodes = staysOf(blocked);
  const hash = contentHash(nodes);
  const [known, at] = ((await store.documentVersion(name)) ?? "").split("/");
  if (known === hash || now() - Number(at ?? 0) < MIN_AGE_MS) return;
  const stays: Stays = { at: now(), nodes };
  await store.putDocument(name, jsonBytes(stays), `${hash}/${stays.at}`);
}
