import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import { REPAIR_POLICIES } from "./policies.ts";

/** A node to be replaced at once. */
export interface Repair {
  readonly claim: NodeClaim;
  readonly node: Node;
  /** Type of the condition that has lasted too long. */
  readonly condition: string;
}

/** What to do about unhealthy nodes: replace them, or leave them since too many are. */
export interface RepairPlan {
  readonly repairs: readonly Repair[];
  readonly blocked: readonly Repair[];
}

/** Share of a pool's nodes (of the cluster's, for claims without a pool) that may be unhealthy; when more are, the fault is elsewhere. */
const MOST_UNHEALTHY = 0.2;

/**
 * Nodes whose trouble has lasted longer than it is tolerated (Karpenter's node auto-repair). They go by force: budgets, PodDisruptionBudgets and
 * do-not-disrupt protect what runs on a healthy node, and a machine that is broken drains nobody.
 * @param nodes all of the cluster's managed nodes: each counts for the share.
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
  const claimByProviderId = new Map(claims.flatMap((claim) => (claim.status?.providerID ? [[claim.status.providerID, claim]] : [])));
  const repairs: Repair[] = [];
  const blocked: Repair[] = [];
  for (const node of nodes) {
    const condition = overdueCondition(node, now);
    const claim = claimByProviderId.get(node.spec.providerID ?? "");
    if (condition === undefined || claim === undefined) continue;
    const pool = claim.metadata.labels?.[NODE_POOL];
    const peers = pool === undefined ? nodes : nodes.filter(({ metadata }) => metadata.labels?.[NODE_POOL] === pool);
    (tooManyUnhealthy(peers) ? blocked : repairs).push({ claim, node, condition });
  }
  return { repairs, blocked };
}

/** The condition whose toleration ends first, once it has ended. */
function overdueCondition(node: Node, now: number): string | undefined {
  const [first] = REPAIR_POLICIES.flatMap(({ condition: type, status, tolerationMs }) => {
    const condition = conditionOf(node.status?.conditions, type);
    return condition?.status === status ? [{ type, until: fromRfc3339(condition.lastTransitionTime) + tolerationMs }] : [];
  }).sort((a, b) => a.until - b.until);
  return first !== undefined && first.until <= now ? first.type : undefined;
}

function tooManyUnhealthy(nodes: readonly Node[]): boolean {
  return nodes.filter(isUnhealthy).length > Math.ceil(nodes.length * MOST_UNHEALTHY);
}

/** However short it has been so. */
function isUnhealthy({ status }: Node): boolean {
  return REPAIR_POLICIES.some((policy) => conditionOf(status?.conditions, policy.condition)?.status === policy.status);
}
