// Node auto-repair: health.ts says what is wrong with a node; core/disruption/methods/repair.ts repairs it within the
// budgets. Here is what LEGACY_NODE_REPAIR asks for: in come nodes and NodeClaims, out come the claims to replace by
// force. Budgets and pods are not known here.

import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import { nodeOwners } from "../model/node-owner.ts";
import { tooManyUnhealthy } from "./health.ts";
import { LEGACY_POLICIES } from "./policies.ts";

/** An unhealthy node to replace at once. */
export interface Repair {
  readonly claim: NodeClaim;
  readonly node: Node;
  /** Type of the condition that has lasted longer than its toleration. */
  readonly condition: string;
}

/** Unhealthy nodes to replace, and unhealthy nodes that stay because too many nodes are unhealthy. */
interface RepairPlan {
  readonly repairs: readonly Repair[];
  readonly blocked: readonly Repair[];
}

/**
 * The nodes that have been unhealthy for longer than the toleration of their condition. They are replaced by force:
 * budgets, PodDisruptionBudgets and do-not-disrupt protect pods on healthy nodes, and an unhealthy node cannot drain
 * (karpenter: pkg/controllers/node/legacyrepair/controller.go, Controller.Reconcile).
 * @param nodes all managed nodes of the cluster, because each counts for the share.
 */
export function planRepairs({
  nodes,
  claims,
  now,
}: {
  readonly nodes: readonly Node[];
  readonly claims: readonly NodeClaim[];
  readonly now: number;
}): RepairPlan {
  const { claimOf } = nodeOwners(nodes, claims);
  // A Node may say that it belongs to any NodePool: only those of NodeClaims count for the share.
  const managed = nodes.filter((node) => claimOf(node) !== undefined);
  const repairs: Repair[] = [];
  const blocked: Repair[] = [];
  for (const node of nodes) {
    const condition = overdueCondition(node, now);
    const claim = claimOf(node);
    if (condition === undefined || claim === undefined) continue;
    const pool = claim.metadata.labels?.[NODE_POOL];
    const peers = pool === undefined ? managed : managed.filter(({ metadata }) => metadata.labels?.[NODE_POOL] === pool);
    (tooManyUnhealthy(peers) ? blocked : repairs).push({ claim, node, condition });
  }
  return { repairs, blocked };
}

/** Type of the condition whose toleration ended first; undefined while none has ended. */
function overdueCondition(node: Node, now: number): string | undefined {
  const [first] = LEGACY_POLICIES.flatMap(({ condition: type, status, tolerationMs }) => {
    const condition = conditionOf(node.status?.conditions, type);
    return condition?.status === status ? [{ type, until: fromRfc3339(condition.lastTransitionTime) + tolerationMs }] : [];
  }).sort((a, b) => a.until - b.until);
  return first !== undefined && first.until <= now ? first.type : undefined;
}
