// What a pass of disruption reports: comes in its plan, goes out as Kubernetes events, gauges and counters, in
// Karpenter's names and words. Nothing is decided here, and nothing is published: functions/disruption does that.

import type { CommandRecord } from "../../model/command-record.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import type { ClusterView } from "../cluster/view.ts";
import { type BalancedScore, scores } from "../consolidation/balanced.ts";
import { type Decision, type Pass, reasonOf } from "../consolidation/decision.ts";
import { consolidationCounts, consolidationScores } from "./plan-counts.ts";
import { approvedEvents, blockedEvents, budgetEvents, candidateEvents, type DedupedEvent, gracePeriodEvents } from "./plan-events.ts";
import { blockedGauges, budgetGauges, type Count, eligibleGauge, type Gauge, type Observation } from "./plan-gauges.ts";

/** What a report needs of a pass; DisruptionPlan (plan.ts) has all of it. */
interface Reportable {
  readonly view: ClusterView;
  readonly command?: CommandRecord;
  readonly blocked: readonly BlockedNode[];
  /** The methods that ran, in order; the last one decided `command`. */
  readonly passes: readonly Pass[];
}

/** What one pass of disruption publishes. */
export interface DisruptionReport {
  readonly events: readonly DedupedEvent[];
  readonly gauges: readonly Gauge[];
  /** Counters: what happened in this pass, to be added up. */
  readonly counts: readonly Count[];
  /** Histograms: each value is an observation of its own. */
  readonly observations: readonly Observation[];
}

/** The Kubernetes events and metrics of one pass, in the order in which they are published. */
export function reportOf({ view, command, blocked, passes }: Reportable): DisruptionReport {
  const balanced = balancedScores(view, passes.at(-1)?.decision, command);
  return {
    events: [
      ...blockedEvents(view, blocked),
      ...gracePeriodEvents(view),
      ...passes.flatMap(({ method, budgets }) => budgetEvents(view, reasonOf(method), budgets)),
      ...(command ? candidateEvents(view, command) : []),
      ...(command ? approvedEvents(view, command, balanced) : []),
    ],
    gauges: [
      ...passes.flatMap(({ method, decision, budgets }) => [
        eligibleGauge(reasonOf(method), decision.eligible),
        ...budgetGauges(reasonOf(method), budgets),
      ]),
      ...blockedGauges(blocked),
    ],
    counts: consolidationCounts(view, passes),
    observations: consolidationScores(balanced),
  };
}

/**
 * The scores of policy Balanced for the decided command; empty for emptiness and drift, which the policy does not
 * score.
 */
function balancedScores(view: ClusterView, decision: Decision | undefined, command: CommandRecord | undefined): readonly BalancedScore[] {
  const consolidates = command?.method === "multi" || command?.method === "single";
  return consolidates && decision?.found ? scores(view, decision.found.candidates, command.savingsPerHour) : [];
}
