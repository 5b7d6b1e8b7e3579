import type { Lease } from "../../core/model/lease.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * Longer than a decision takes, and short enough to wait for: a holder that was killed blocks its cluster for this
 * long.
 */
const LEASE_TTL_MS = 30_000;

/**
 * Runs `decide` under the cluster's lease, so that one function at a time decides for the cluster. False, without a
 * run, while another function holds the lease: ask again later. Each write carries the lease's token, so that a holder
 * whose lease has expired is refused.
 */
export async function withLease(
  { cluster, store, now, newId }: Pick<ClusterDeps, "cluster" | "store" | "now" | "newId">,
  decide: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = await store.acquireLease(cluster.name, newId(), now(), LEASE_TTL_MS);
  if (lease === undefined) return false;
  try {
    await decide(lease);
  } finally {
    await store.releaseLease(lease);
  }
  return true;
}
