import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
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

/**
 * The records of a cluster as they were at most two seconds ago. EC2 may take back many machines at once, and each of
 * their NodeClaims asks for all records: the NodeClaims of those seconds share one reading of the table, so that what
 * is read does not grow with the square of the notices.
 */
export async function recentRecords({
  cluster,
  store,
  now,
}: Pick<LifecycleDeps, "cluster" | "store" | "now">): Promise<readonly NodeClaimRecord[]> {
  const at = now();
  const known = readings.get(cluster);
  if (known !== undefined && Math.abs(at - known.at) < MAX_AGE_MS) return known.records;
  const records = await store.list(cluster.name);
  readings.set(cluster, { at, records });
  return records;
}
