import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import type { ClusterConfig } from "#settings/cluster-list.ts";

/** How long a connection is kept without a check of the cluster's description. No benchmark has tuned it. */
const CHECK_MS = 10 * 60_000;
/** The same after a request without an answer: the cluster may have been created again under its name. */
const DOUBT_MS = 60_000;

interface KeptConnectionsOptions<C> {
  /** What is known of a cluster; of a description that is older than `maxAgeMs` EKS is asked again. */
  readonly factsOf: (cluster: ClusterConfig, maxAgeMs?: number) => Promise<ClusterFacts>;
  /** Makes a connection; `lost` is called when a request of it has no answer. */
  readonly connect: (cluster: ClusterConfig, facts: ClusterFacts, lost: () => void) => C;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Kept<C> {
  readonly facts: ClusterFacts;
  readonly connection: C;
  checkedAt: number;
  isDoubted: boolean;
}

/**
 * A connection for each cluster, kept while the function is warm, and replaced when the cluster has another endpoint
 * or authority. When a cluster's first description fails, the call rejects and the next call tries again; later ones
 * that fail leave the connection as it is.
 */
export function keptConnections<C>({ factsOf, connect, now }: KeptConnectionsOptions<C>): (cluster: ClusterConfig) => Promise<C> {
  const known = new Map<string, Promise<Kept<C>>>();

  const made = (cluster: ClusterConfig, facts: ClusterFacts): Kept<C> => {
    const lost = (): void => {
      kept.isDoubted = true;
    };
    const kept: Kept<C> = { facts, connection: connect(cluster, facts, lost), checkedAt: now(), isDoubted: false };
    return kept;
  };

  const checked = async (cluster: ClusterConfig, kept: Kept<C>): Promise<Kept<C>> => {
    if (now() - kept.checkedAt < (kept.isDoubted ? DOUBT_MS : CHECK_MS)) return kept;
    const facts = await factsOf(cluster, kept.isDoubted ? DOUBT_MS : undefined).catch(() => kept.facts);
    kept.checkedAt = now();
    kept.isDoubted = false;
    return facts.endpoint === kept.facts.endpoint && facts.caBundle === kept.facts.caBundle ? kept : made(cluster, facts);
  };

  return async (cluster) => {
    const { name } = cluster;
    const before = known.get(name);
    const next =
      before === undefined ? factsOf(cluster).then((facts) => made(cluster, facts)) : before.then((kept) => checked(cluster, kept));
    known.set(name, next);
    try {
      return (await next).connection;
    } catch (error) {
      known.delete(name);
      throw error;
    }
  };
}
