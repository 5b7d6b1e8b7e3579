import type { ClusterView } from "../cluster/view.ts";
import type { BalancedScore } from "../consolidation/balanced.ts";
import type { Pass } from "../consolidation/decision.ts";
import type { Count, Observation } from "./plan-gauges.ts";

/** Counters of consolidation in one pass: moves by NodePool and verdict, and searches whose time was up. */
export function consolidationCounts(view: ClusterView, passes: readonly Pass[]): readonly Count[] {
  const poolOf = new Map([...view.machines.values()].map(({ name, nodePool = "" }) => [name, nodePool]));
  const moves = new Map<string, Count>();
  const count = (decision: "approved" | "rejected", nodes: readonly string[]): void => {
    for (const nodepool of new Set(nodes.map((node) => poolOf.get(node) ?? ""))) {
      const policy = view.nodePools.get(nodepool)?.spec.disruption?.consolidationPolicy ?? "WhenEmptyOrUnderutilized";
      const key = `${decision}/${nodepool}`;
      moves.set(key, {
        metric: "consolidation_moves_total",
        labels: { decision, nodepool, policy },
        value: (moves.get(key)?.value ?? 0) + 1,
      });
    }
  };
  for (const { method, decision } of passes) {
    for (const { verdict, nodes } of decision.tried ?? []) count(verdict === "chosen" ? "approved" : "rejected", nodes);
    const isConsolidation = method === "multi" || method === "single";
    if (isConsolidation && decision.tried === undefined && decision.found)
      count(
        "approved",
        decision.found.candidates.map(({ node }) => node),
      );
  }
  const timeouts = passes.flatMap(({ method, isTimedOut }): Count[] =>
    isTimedOut ? [{ metric: "voluntary_disruption_consolidation_timeouts_total", labels: { consolidation_type: method }, value: 1 }] : [],
  );
  return [...moves.values(), ...timeouts];
}

/** The scores of policy Balanced for the decided command, one observation each. */
export function consolidationScores(approved: readonly BalancedScore[]): readonly Observation[] {
  return approved.map(({ nodePool, score }) => {
    return { metric: "consolidation_score", labels: { decision: "approved", nodepool: nodePool, policy: "Balanced" }, value: score };
  });
}
