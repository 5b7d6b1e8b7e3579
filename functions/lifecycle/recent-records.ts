import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

/**
 * How old a reading may be: a fraction of the time that the planner has to write replacements
 * (core/lifecycle/drain.ts).
 */
const MAX_AGE_MS = 2_000;

interface Reading {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly records: readonly NodeClaimRecord[];
}

/**
 * Keyed by the cluster's facts object, which lives as long as the process serves the cluster. Only readings that have
 * ended are kept: one under way belongs to an invocation that may be frozen or killed, and others would wait for it.
 */
const readings = new WeakMap<object, Reading>();

/** The readings under way of an invocation, by cluster: only messages of the same invocation wait for them. */
const underWay = new WeakMap<object, Map<string, Promise<readonly NodeClaimRecord[]>>>();

/**
 * The records of a cluster as they were at most two seconds ago. EC2 may take back many machines at once, and each of
 * their NodeClaims asks for all records: the NodeClaims of those seconds share one reading of the table, so that what
 * is read does not grow with the square of the notices. The messages of one invocation begin at once: they share the
 * reading that is under way.
 */
export async function recentRecords({
  cluster,
  store,
  now,
  invocation,
}: Pick<LifecycleDeps, "cluster" | "store" | "now" | "invocation">): Promise<readonly NodeClaimRecord[]> {
  const at = now();
  const known = readings.get(cluster);
  if (known !== undefined && Math.abs(at - known.at) < MAX_AGE_MS) return known.records;
  const read = async (): Promise<readonly NodeClaimRecord[]> => {
    const records = await store.list(cluster.name);
    readings.set(cluster, { at, records });
    return records;
  };
  if (invocation === undefined) return read();
  const own = underWay.get(invocation) ?? new Map<string, Promise<readonly NodeClaimRecord[]>>();
  underWay.set(invocation, own);
  const shared = own.get(cluster.name);
  // A reading that has failed fails the message that began it, and no other one.
  if (shared !== undefined) return shared.catch(read);
  const begun = read().finally(() => own.delete(cluster.name));
  own.set(cluster.name, begun);
  return begun;
}
