import { isTrue } from "../model/conditions.ts";
import type { NodePool } from "../model/node-pool.ts";
import { isStatic } from "./claim.ts";
import { type ClaimFacts, countReplicas, type ReplicaCount } from "./count.ts";

/** What a static pool lacks, or has too much of. */
export interface ReplicaChange {
  readonly nodePool: NodePool;
  /** Claims that stay. */
  readonly current: number;
  readonly desired: number;
  /** Claims to make. */
  readonly add: number;
  /** Claims to end. */
  readonly remove: number;
  /** Whether `limits.nodes` keeps claims from being made that are wanted. */
  readonly limited: boolean;
}

const NONE: ReplicaCount = { active: [], deleting: 0, beingReplaced: 0 };

/**
 * How far each static pool is from its `replicas` (nodepool.md §7); pools that have what they want are left out. To be decided under the cluster's lease, so
 * that two decisions do not both fill the same gap.
 */
export function replicaChanges(pools: readonly NodePool[], facts: ClaimFacts): readonly ReplicaChange[] {
  const statics = pools.filter((pool) => isStatic(pool) && pool.metadata.deletionTimestamp === undefined);
  if (statics.length === 0) return [];
  const counts = countReplicas(facts);
  return statics
    .map((pool) => changeOf(pool, counts.get(pool.metadata.name) ?? NONE))
    .filter(({ add, remove, limited }) => add > 0 || remove > 0 || limited);
}

function changeOf(nodePool: NodePool, { active, deleting, beingReplaced }: ReplicaCount): ReplicaChange {
  const desired = nodePool.spec.replicas ?? 0;
  const current = active.length;
  const unchanged = { nodePool, current, desired, add: 0, remove: 0, limited: false };
  if (current > desired) return { ...unchanged, remove: current - desired };
  if (current + beingReplaced >= desired || !isTrue(nodePool.status?.conditions, "Ready")) return unchanged;
  const wanted = desired - current;
  const room = nodeLimit(nodePool) - (current + deleting + beingReplaced);
  const add = Math.max(0, Math.min(wanted, room));
  return { ...unchanged, add, limited: add < wanted };
}

/** The most nodes that a pool may have; Infinity without a limit. */
export function nodeLimit({ spec }: NodePool): number {
  const limit = spec.limits?.["nodes"];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}
