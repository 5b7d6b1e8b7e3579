import type { CommandRecord } from "../../model/command-record.ts";
import type { Effort } from "../../scheduling/search.ts";
import { allowance, poolBudgets } from "../cluster/budget.ts";
import { type Candidate, findCandidates } from "../cluster/candidate.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView } from "../cluster/view.ts";
import { isConsolidationCandidate } from "../consolidation/consolidation.ts";
import { tryRemoval } from "../consolidation/simulate.ts";
import { isDriftCandidate } from "../methods/drift.ts";
import { isEmptinessCandidate } from "../methods/emptiness.ts";

/** Whether a decision still holds: for these nodes, or for none, and why. */
export type Validation =
  | { readonly holds: true; readonly candidates: readonly Candidate[] }
  | { readonly holds: false; readonly why: "churn" | "budget" | "scheduling" };

function filterOf(method: CommandRecord["method"], now: number): (candidate: Candidate) => boolean {
  if (method === "emptiness") return (candidate) => isEmptinessCandidate(candidate, now);
  if (method === "drift") return isDriftCandidate;
  return (candidate) => isConsolidationCandidate(candidate, now);
}

/** Nothing that was not foreseen: as many nodes as planned, of types that would be planned again. */
function stillSchedules(
  command: CommandRecord,
  candidates: readonly Candidate[],
  view: ClusterView,
  simulate: Simulate,
  effort: Effort,
): boolean {
  const trial = tryRemoval(view, candidates, simulate, { effort });
  if (trial.unplaced.length > 0 || trial.newNodeClaims.length !== command.replacements.length) return false;
  return command.replacements.every((planned, i) => {
    const again = new Set(trial.newNodeClaims[i]?.instanceTypes);
    return planned.instanceTypes.every((type) => again.has(type));
  });
}

/**
 * Looks at a command again, on a fresh view that leaves the command itself out (disruption.md §9). Emptiness goes on with the nodes
 * that are still empty; consolidation wants all of them, and the same answer from the scheduler; drift wants the node to be drifted still.
 */
export function validate(command: CommandRecord, view: ClusterView, simulate: Simulate): Validation {
  const planned = new Set(command.candidates.map(({ nodeClaim }) => nodeClaim));
  const eligible = findCandidates(view).all.filter(filterOf(command.method, view.now));
  const there = eligible.filter(({ nodeClaim }) => planned.has(nodeClaim));
  const partial = command.method === "emptiness";
  if (there.length === 0 || (!partial && there.length < planned.size)) return { holds: false, why: "churn" };
  const budget = allowance(poolBudgets(view, command.reason));
  const allowed = there.filter(({ nodePool }) => budget.take(nodePool.metadata.name));
  if (allowed.length === 0 || (!partial && allowed.length < there.length)) return { holds: false, why: "budget" };
  const simulated = command.method === "multi" || command.method === "single";
  // Which effort found it is not written down: the quick one is tried first.
  const holds = (effort: Effort): boolean => stillSchedules(command, allowed, view, simulate, effort);
  if (simulated && !holds("quick") && !holds("full")) return { holds: false, why: "scheduling" };
  return { holds: true, candidates: allowed };
}
