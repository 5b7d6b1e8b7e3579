import { affordable } from "../../static-capacity/affordable.ts";
import { isStatic, staticClaim } from "../../static-capacity/claim.ts";
import { countReplicas, type ReplicaCount } from "../../static-capacity/count.ts";
import { nodeLimit } from "../../static-capacity/plan.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, type Candidate } from "../cluster/candidate.ts";
import type { ClusterView } from "../cluster/view.ts";
import type { Decision } from "../consolidation/decision.ts";
import type { DisruptionInput } from "../consolidation/input.ts";
import { byUrgency, isDriftCandidate } from "./drift.ts";

/**
 * Karpenter's StaticDrift: the first drifted node of a static NodePool that the budget allows, replaced by one node.
 * Nothing is simulated, because the pool keeps a number of nodes for any pods. A pool with more claims than `replicas`
 * is skipped until it is scaled down, and the replacement must fit `limits.nodes`
 * (karpenter: pkg/controllers/disruption/staticdrift.go, StaticDrift.ComputeCommands).
 */
export function staticDrift(
  view: ClusterView,
  candidates: readonly Candidate[],
  budgets: ReadonlyMap<string, PoolBudget>,
  { commands, records }: Pick<DisruptionInput, "commands" | "records">,
): Decision {
  const eligible = candidates.filter((candidate) => isStatic(candidate.nodePool) && isDriftCandidate(candidate)).sort(byUrgency);
  if (eligible.length === 0) return { blocked: [], eligible: 0 };
  const counts = countReplicas({ claims: view.snapshot.nodeClaims, records, commands });
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  for (const candidate of eligible) {
    const { nodePool } = candidate;
    const { name } = nodePool.metadata;
    if (!hasRoom(candidate, counts.get(name))) continue;
    if (!budget.take(name)) {
      blocked.push(budgetSpent(candidate, "Drifted"));
      continue;
    }
    const replacement = staticClaim(nodePool, view.snapshot.instanceTypes.get(name) ?? []);
    if ("none" in replacement) continue;
    const { count, planned } = affordable({ pool: nodePool, planned: replacement.ok, wanted: 1 }, view.snapshot, new Set([candidate.node]));
    if (count > 0) return { found: { candidates: [candidate], replacements: [planned] }, blocked, eligible: eligible.length };
  }
  return { blocked, eligible: eligible.length };
}

/** Whether the pool has no more claims than `replicas`, and `limits.nodes` allows one more. */
function hasRoom({ nodePool }: Candidate, count: ReplicaCount | undefined): boolean {
  const { active, deleting, beingReplaced } = count ?? { active: [], deleting: 0, beingReplaced: 0 };
  const all = active.length + deleting + beingReplaced;
  return active.length <= (nodePool.spec.replicas ?? 0) && all < nodeLimit(nodePool);
}
