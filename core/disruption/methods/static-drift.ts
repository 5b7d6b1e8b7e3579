import type { CommandRecord } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
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
import { isRefilled, withOwnPlace } from "./terminate-first.ts";

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
  { commands, records, settings }: Pick<DisruptionInput, "commands" | "records" | "settings">,
): Decision {
  const eligible = candidates.filter((candidate) => isStatic(candidate.nodePool) && isDriftCandidate(candidate)).sort(byUrgency);
  if (eligible.length === 0) return { blocked: [], eligible: 0 };
  const counts = countReplicas({ claims: view.snapshot.nodeClaims, records, commands });
  const budget = allowance(budgets);
  const blocked: BlockedNode[] = [];
  for (const candidate of eligible) {
    const { node, nodeClaim, nodePool } = candidate;
    const { name } = nodePool.metadata;
    const move = moveOf(candidate, view, counts.get(name), settings);
    if (move === "AtLimit") blocked.push({ node, nodeClaim, blocked: { reason: "StaticAtLimit", nodePool: name } });
    if (move === "AtLimit" || move === "Surplus") continue;
    if (!budget.take(name)) blocked.push(budgetSpent(candidate, "Drifted"));
    else if (typeof move !== "string") return { found: { candidates: [candidate], ...move }, blocked, eligible: eligible.length };
  }
  return { blocked, eligible: eligible.length };
}

/** How a node of a static pool is replaced, or why it is not. */
function moveOf(
  candidate: Candidate,
  view: ClusterView,
  count: ReplicaCount | undefined,
  { terminateFirstDrift = false }: Pick<DisruptionInput["settings"], "terminateFirstDrift">,
): Omit<NonNullable<Decision["found"]>, "candidates"> | Extract<ReturnType<typeof staticReplacement>, string> {
  const replacement = staticReplacement(candidate, view, count);
  const terminateFirst = terminateFirstDrift ? whyFirst(candidate, view, count, replacement) : undefined;
  if (terminateFirst) return { replacements: [], terminateFirst };
  return typeof replacement === "string" ? replacement : { replacements: [replacement] };
}

/**
 * Why a node of a static pool goes before its replacement, which the pool then launches: there is no room for both
 * under `limits.nodes`, or in the only capacity reservations that it may use. Undefined where it need not, or where
 * nothing would follow it.
 */
function whyFirst(
  candidate: Candidate,
  { snapshot }: ClusterView,
  count: ReplicaCount | undefined,
  replacement: ReturnType<typeof staticReplacement>,
): CommandRecord["terminateFirst"] {
  if (!isRefilled(candidate.nodePool)) return undefined;
  if (replacement === "AtLimit") return "static-at-limit";
  const freed = replacement === "Unplanned" ? withOwnPlace(snapshot, candidate) : undefined;
  const follows = freed && typeof staticReplacement(candidate, { snapshot: freed }, count) !== "string";
  return follows ? "no-reserved-capacity" : undefined;
}

/**
 * The node that replaces one of a static pool. "Surplus": the pool has more claims than `replicas` and is scaled down
 * first; "AtLimit": `limits.nodes` allows no further one; "Unplanned": none can be planned or paid for.
 */
export function staticReplacement(
  { node, nodePool }: Candidate,
  { snapshot }: Pick<ClusterView, "snapshot">,
  count: ReplicaCount = { active: [], deleting: 0, beingReplaced: 0 },
): PlannedNodeClaim | "Surplus" | "AtLimit" | "Unplanned" {
  if (count.active.length > (nodePool.spec.replicas ?? 0)) return "Surplus";
  if (count.active.length + count.deleting + count.beingReplaced >= nodeLimit(nodePool)) return "AtLimit";
  const claim = staticClaim(nodePool, snapshot.instanceTypes.get(nodePool.metadata.name) ?? []);
  if ("none" in claim) return "Unplanned";
  const { count: affordableNodes, planned } = affordable({ pool: nodePool, planned: claim.ok, wanted: 1 }, snapshot, new Set([node]));
  return affordableNodes > 0 ? planned : "Unplanned";
}
