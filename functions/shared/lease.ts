import type { Lease } from "../../core/model/lease.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Longer than a decision takes, shorter than people wait: a holder that was killed blocks its cluster for this long. */
const TTL_MS = 30_000;

/**
 * Runs `decide` as the only one that decides for this cluster (architecture.md, idea 4). False when somebody else does: then ask again later.
 * The lease's token goes with each write, so a holder that has overslept is refused.
 */
export async function withLease(
  { cluster, store, now, newId }: Pick<ClusterDeps, "cluster" | "store" | "now" | "newId">,
  decide: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = await store.acquireLease(cluster.name, newId(), now(), TTL_MS);
  if (lease === undefined) return false;
  try {
    await decide(lease);
  } finally {
    await store.releaseLease(lease);
  }
  return true;
}
