import type { Lease } from "../../core/model/lease.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * Longer than a decision takes, and as short as possible: the cluster of a holder that was killed makes no decision for
 * this long.
 */
const TTL_MS = 30_000;

/**
 * Runs `decide` while holding the cluster's lease, so that at most one decision runs at a time. Returns false when
 * another invocation holds the lease: try again later. Each write carries the lease's token, so a holder that has
 * outlived its lease is refused.
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
