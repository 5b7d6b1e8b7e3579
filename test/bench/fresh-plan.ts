import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { isReschedulable } from "#core/pods/predicates.ts";
import { solve } from "#core/scheduling/solve.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";

/** What a cluster would be if it were planned anew. */
export interface FreshPlan {
  readonly nodes: number;
  /** USD per hour of the instances. */
  readonly price: number;
}

/** The plan for all pods that may move, on new nodes alone. */
export function freshPlan(scenario: RawJson): FreshPlan {
  const snapshot = scenarioToSnapshot(scenario);
  const extraPods = snapshot.pods.filter(isReschedulable);
  const { newNodeClaims } = solve({ ...snapshot, nodes: [], nodeClaims: [] }, { extraPods, reservedMode: "fallback" });
  return { nodes: newNodeClaims.length, price: newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0) };
}
