import type { Simulate } from "../../disruption/cluster/simulation.ts";
import { simulateWithSolve } from "../../disruption/consolidation/simulate.ts";
import { type DisruptionPlan, planDisruption } from "../../disruption/plan.ts";
import type { DisruptionSettings } from "../../disruption/settings.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Plan } from "../../model/plan.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { makeConsolidationTrial } from "../../scheduling/make-trial.ts";
import { type SolveOptions, solve } from "../../scheduling/solve.ts";
import { type ExplainedNode, explainNodes } from "./explain-nodes.ts";

/** A cluster as it was read: the snapshot, and what the stack's table knows of it. */
export interface ReadState {
  readonly snapshot: Snapshot;
  /** Empty for a file, and for a cluster that is read without the stack's table. */
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
}

/** How the deployment decides. */
export interface DecisionSettings {
  readonly disruption: DisruptionSettings;
  readonly solve: SolveOptions;
  /** Whether the search has taken as long as it may. */
  readonly outOfTime?: () => boolean;
}

/** What the next passes would decide about a cluster as it stands. */
export interface Decisions {
  /** Where pods that wait would go. */
  readonly plan: Plan;
  /** The next pass of disruption. */
  readonly pass: DisruptionPlan;
  readonly nodes: readonly ExplainedNode[];
}

/** Plans pending pods, and one pass of disruption with the reason of each node. Nothing is done. */
export function decisionsOf({ snapshot, records, commands }: ReadState, settings: DecisionSettings): Decisions {
  const simulate: Simulate = (seen, how) => simulateWithSolve(seen, { ...settings.solve, ...how });
  const { outOfTime } = settings;
  const decide = (seen: Snapshot): DisruptionPlan =>
    planDisruption({
      snapshot: seen,
      records: seen === snapshot ? records : [],
      commands: seen === snapshot ? commands : [],
      settings: settings.disruption,
      now: seen.now,
      simulate,
      makeTrial: (before, how) => makeConsolidationTrial(before, how, settings.solve),
      newId: () => "overview",
      ...(outOfTime && { outOfTime }),
    });
  const pass = decide(snapshot);
  return { plan: solve(snapshot, settings.solve), pass, nodes: explainNodes(snapshot, pass, decide) };
}
