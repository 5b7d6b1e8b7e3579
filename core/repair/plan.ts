// Node auto-repair: in come nodes and NodeClaims, out come the claims to replace. Repair is forceful: budgets and pods
// are not known here.

import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import { nodeOwners } from "../model/node-owner.ts";
import { REPAIR_POLICIES } from "./policies.ts";

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
 * Share of a NodePool's nodes that may be unhealthy, of the cluster's nodes for claims without a NodePool. With more,
 * the cause is not the nodes, and replacing them would not help
 * (karpenter: pkg/controllers/node/health/controller.go, allowedUnhealthyPercent).
 */
const MAX_UNHEALTHY_SHARE = 0.2;

/**
 * The nodes that have been unhealthy for longer than the toleration of their condition. They are replaced by force:
 * budgets, PodDisruptionBudgets and do-not-disrupt protect pods on healthy nodes, and an unhealthy node cannot drain
 * (karpenter: pkg/controllers/node/health/controller.go, Controller.Reconcile).
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
  const [first] = REPAIR_POLICIES.flatMap(({ condition: type, status, tolerationMs }) => {
    const condition = conditionOf(node.status?.conditions, type);
    return condition?.status === status ? [{ type, until: fromRfc3339(condition.lastTransitionTime) + tolerationMs }] : [];
  }).sort((a, b) => a.until - b.until);
  return first !== undefined && first.until <= now ? first.type : undefined;
}

/** Whether more than the allowed share, rounded up, is unhealthy. */
function tooManyUnhealthy(nodes: readonly Node[]): boolean {
  return nodes.filter(isUnhealthy).length > Math.ceil(nodes.length * MAX_UNHEALTHY_SHARE);
}

/** Whether a condition of the node is unhealthy, for however short a time. */
function isUnhealthy({ status }: Node): boolean {
  return REPAIR_POLICIES.some((policy) => conditionOf(status?.conditions, policy.condition)?.status === policy.status);
}
