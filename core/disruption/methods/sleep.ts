import { isAsleep } from "../../node-pool/schedule.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, type Candidate, isEmpty } from "../cluster/candidate.ts";
import type { Decision } from "../consolidation/decision.ts";
import { CommandSize } from "../node-sets/deletable-set.ts";

/** Whether the node's pool sleeps at `now` (ms) and no pod blocks the node. */
export function isSleepCandidate({ nodePool, heldByPod }: Candidate, now: number): boolean {
  return heldByPod === undefined && isAsleep(nodePool, now);
}

/**
 * The nodes of sleeping pools that the budgets allow, removed together without replacements: pods that another pool
 * may take are planned for there as soon as the node is marked, and the others wait. PodDisruptionBudgets and
 * do-not-disrupt hold a node whatever its terminationGracePeriod is, because nothing but money is lost when it stays.
 * Empty nodes come first.
 */
export function sleep(candidates: readonly Candidate[], budgets: ReadonlyMap<string, PoolBudget>, now: number): Decision {
  const budget = allowance(budgets);
  const size = new CommandSize();
  const blocked: BlockedNode[] = candidates.flatMap(({ node, nodeClaim, nodePool, heldByPod }) =>
    heldByPod !== undefined && isAsleep(nodePool, now) ? [{ node, nodeClaim, blocked: heldByPod }] : [],
  );
  const order = (candidate: Candidate): number => (isEmpty(candidate) ? 0 : 1);
  const eligible = candidates
    .filter((candidate) => isSleepCandidate(candidate, now))
    .sort((a, b) => order(a) - order(b) || (a.node < b.node ? -1 : 1));
  const found = eligible.filter((candidate) => {
    if (budget.take(candidate.nodePool.metadata.name)) return size.take(candidate);
    blocked.push(budgetSpent(candidate, "Asleep"));
    return false;
  });
  return { ...(found.length > 0 && { found: { candidates: found, replacements: [] } }), blocked, eligible: eligible.length };
}
