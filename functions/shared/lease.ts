import type { Lease } from "#core/model/lease.ts";
import { checkedWrites } from "./checked-writes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Short enough to wait for: a holder that was killed blocks its cluster for this long. */
export const LEASE_TTL_MS = 30_000;
const RENEW_AFTER_MS = LEASE_TTL_MS / 3;
/**
 * For this long a lease is renewed without a write: the longest timeout of a function that decides. A holder whose call
 * never returns, in a process that serves further invocations, must not keep its cluster for ever.
 */
const MAX_RENEWED_MS = 120_000;

/** Another function has taken the lease, because this one was held up for longer than the lease lasts. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

type LeaseDeps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "now" | "later" | "newId">;

/**
 * Runs `decide` under the cluster's lease, so that one function at a time decides for the cluster. Undefined, without
 * a run, while another function holds the lease: ask again later. The lease is renewed as long as `decide` runs. The
 * ports that `decide` gets refuse each write with a LeaseLostError once another function has taken the lease; intents
 * and commands carry the lease's token besides, so that the store refuses them too.
 */
export async function withLease<D extends LeaseDeps, T>(
  deps: D,
  decide: (lease: Lease, held: D) => Promise<T>,
): Promise<{ readonly decision: T } | undefined> {
  const { cluster, store, now, newId } = deps;
  const lease = await store.acquireLease(cluster.name, newId(), now(), LEASE_TTL_MS);
  if (lease === undefined) return undefined;
  const { check, stop } = keepLease(lease, deps);
  try {
    return { decision: await decide(lease, { ...deps, ...checkedWrites(deps, check) }) };
  } finally {
    stop();
    // A lease that is not released keeps the next decision waiting until it expires.
    await store.releaseLease(lease).catch(() => store.releaseLease(lease));
  }
}

interface KeptLease {
  /** Rejects when the lease is lost. A lease that has expired is renewed if no other function has taken it. */
  readonly check: () => Promise<void>;
  readonly stop: () => void;
}

function keepLease(lease: Lease, { cluster, store, now, later }: LeaseDeps): KeptLease {
  const lastRenewal = now() + MAX_RENEWED_MS;
  let { expiresAt } = lease;
  let isOver = false;
  let isLost = false;
  const renew = async (): Promise<void> => {
    const renewed = await store.renewLease(lease, now(), LEASE_TTL_MS);
    if (renewed === undefined) isLost = true;
    else expiresAt = renewed.expiresAt;
  };
  /** A renewal that fails is made up for by the next one, or by the check before the next write. */
  const keep = async (): Promise<void> => {
    await renew().catch(() => {});
    if (!isOver && !isLost && now() < lastRenewal) cancel = later(RENEW_AFTER_MS, keep);
  };
  let cancel = later(RENEW_AFTER_MS, keep);
  return {
    async check() {
      if (!isLost && now() >= expiresAt) await renew();
      if (isLost)
        throw new LeaseLostError(
          `The decision for cluster ${cluster.name} took too long and another one has begun, so this one ends without a further write.`,
        );
    },
    stop() {
      isOver = true;
      cancel();
    },
  };
}
