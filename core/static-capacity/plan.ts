import { isTrue } from "../model/conditions.ts";
import type { NodePool } from "../model/node-pool.ts";
import { expiryProblem, launchHold } from "../node-pool/launch-backoff.ts";
import { isAsleep } from "../node-pool/schedule.ts";
import { isStatic } from "./claim.ts";
import { type ClaimFacts, countReplicas, type ReplicaCount } from "./count.ts";

/** How far a static pool is from its `replicas`. */
export interface ReplicaChange {
  readonly nodePool: NodePool;
  /** Active claims. */
  readonly current: number;
  readonly desired: number;
  /** Claims to create. */
  readonly add: number;
  /** Claims to delete. */
  readonly remove: number;
  /** Whether `limits.nodes` prevents some of the claims that are missing. */
  readonly limited: boolean;
}

const NO_CLAIMS: ReplicaCount = { active: [], deleting: 0, beingReplaced: 0 };

/**
 * The static pools that do not have their `replicas`, with the claims to create or delete. Callers hold the cluster's
 * lease, so that two decisions do not create the same missing claims
 * (karpenter: pkg/controllers/static/provisioning/controller.go, Controller.Reconcile).
 */
export function replicaChanges(pools: readonly NodePool[], facts: ClaimFacts, now: number): readonly ReplicaChange[] {
  // Disruption empties a pool that sleeps, as its budgets allow; no node is added meanwhile.
  const statics = pools.filter((pool) => isStatic(pool) && pool.metadata.deletionTimestamp === undefined && !isAsleep(pool, now));
  if (statics.length === 0) return [];
  const counts = countReplicas(facts);
  return statics
    .map((pool) => changeOf(pool, counts.get(pool.metadata.name) ?? NO_CLAIMS, now))
    .filter(({ add, remove, limited }) => add > 0 || remove > 0 || limited);
}

function changeOf(nodePool: NodePool, { active, deleting, beingReplaced }: ReplicaCount, now: number): ReplicaChange {
  const desired = nodePool.spec.replicas ?? 0;
  const current = active.length;
  const unchanged = { nodePool, current, desired, add: 0, remove: 0, limited: false };
  if (current > desired) return { ...unchanged, remove: current - desired };
  if (current + beingReplaced >= desired || !isTrue(nodePool.status?.conditions, "Ready")) return unchanged;
  if (expiryProblem(nodePool) !== undefined || launchHold(nodePool, now) !== undefined) return unchanged;
  const wanted = desired - current;
  const room = nodeLimit(nodePool) - (current + deleting + beingReplaced);
  const add = Math.max(0, Math.min(wanted, room));
  return { ...unchanged, add, limited: add < wanted };
}

/** `limits.nodes` of a NodePool; Infinity without a limit. */
export function nodeLimit({ spec }: NodePool): number {
  const limit = spec.limits?.["nodes"];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}
