import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import type { Tried } from "#core/disruption/consolidation/decision.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { type DisruptionPlan, planDisruption } from "#core/disruption/plan.ts";
import { podCount } from "#core/disruption/reports/wording.ts";
import { type ExplainedNode, explainNodes } from "#core/insight/overview/explain-nodes.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import type { Settings } from "#settings/setting-table.ts";
import { checkScenario } from "../scenario/check.ts";
import { idleOverlays } from "../scenario/overlays.ts";
import { type WrittenClaim, writtenClaim } from "../scenario/planned-claim.ts";
import { readScenario, scenarioParts, scenarioToSnapshot } from "../scenario/scenario.ts";
import { underSettings } from "../scenario/settings.ts";

/** One command of disruption, as docs/scenario-format.md describes it. */
export interface PlannedCommand {
  readonly method: string;
  /** Node names. */
  readonly candidates: readonly string[];
  readonly replacements: readonly WrittenClaim[];
  readonly decision: string;
  /** USD per hour. */
  readonly savings: number;
  /** Pods that the command moves to other nodes; absent in the answers of Karpenter that the conformance tests keep. */
  readonly podsMoved?: number;
}

/** The result of `cli consolidate`. */
export interface ConsolidationPlan {
  readonly commands: readonly PlannedCommand[];
  /** Why each other node stays; with `explain`. */
  readonly stays?: readonly { readonly node: string; readonly nodeClaim: string; readonly reason: string }[];
  /** The sets of nodes that were tried, in that order; with `explain`. */
  readonly tried?: readonly Tried[];
  /** Every node, with whether it stays and why; with `explain`. */
  readonly nodes?: readonly ExplainedNode[];
  /** Why NodeOverlays change nothing; with `explain`. */
  readonly idleOverlays?: readonly string[];
}

export interface ConsolidateOptions {
  readonly explain?: boolean;
  /** Those of a deployment where none are given. */
  readonly settings?: Partial<Settings>;
}

/** Plans one pass of disruption over a cluster as it stands. Nothing is validated again later, and nothing is done. */
export function consolidateSnapshot(given: Snapshot, options: ConsolidateOptions = {}): ConsolidationPlan {
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const { snapshot } = weighPreferences(given, settings);
  const simulate: Simulate = (seen, how) => simulateWithSolve(seen, { ...settings, ...how });
  const decide = (seen: Snapshot): DisruptionPlan =>
    planDisruption({
      snapshot: seen,
      records: [],
      commands: [],
      settings: disruptionSettings("scenario", settings),
      now: seen.now,
      simulate,
      makeTrial: (seen, how) => makeConsolidationTrial(seen, how, settings),
      newId: () => "scenario",
    });
  const plan = decide(snapshot);
  const commands = plan.command ? [plannedCommand(plan.command)] : [];
  if (options.explain !== true) return { commands };
  const stays = plan.blocked.map(({ node, nodeClaim, message }) => ({ node, nodeClaim, reason: message }));
  return { commands, stays, tried: plan.tried, nodes: explainNodes(snapshot, plan, decide) };
}

function plannedCommand({ method, candidates, replacements, decision, savingsPerHour }: CommandRecord): PlannedCommand {
  return {
    method,
    candidates: candidates.map(({ node }) => node),
    replacements: replacements.map(writtenClaim),
    decision,
    savings: savingsPerHour,
    podsMoved: podCount({ candidates }),
  };
}

/** The disruption plan for a scenario file ("-" for standard input). Throws InputError. */
export function consolidate(path: string, options: ConsolidateOptions = {}): ConsolidationPlan {
  const scenario = checkScenario(readScenario(path));
  const plan = consolidateSnapshot(underSettings(scenarioToSnapshot(scenario), options.settings ?? {}), options);
  const idle = options.explain ? idleOverlays(scenarioParts(scenario)) : [];
  return idle.length > 0 ? { ...plan, idleOverlays: idle } : plan;
}
