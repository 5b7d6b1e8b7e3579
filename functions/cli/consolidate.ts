import { planDisruption } from "../../core/disruption/plan.ts";
import { simulateWithSolve } from "../../core/disruption/simulate.ts";
import type { PlannedNodeClaim } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { checkScenario } from "./check-scenario.ts";
import { idleOverlays } from "./overlays.ts";
import { readScenario, scenarioParts, scenarioToSnapshot } from "./scenario.ts";

type PlannedReplacement = Pick<PlannedNodeClaim, "nodePool" | "requirements" | "taints" | "instanceTypes" | "requests" | "pods">;

/** One decision, as the conformance scenarios write it. */
export interface PlannedCommand {
  readonly method: string;
  /** Node names. */
  readonly candidates: readonly string[];
  readonly replacements: readonly PlannedReplacement[];
  readonly decision: string;
  /** USD per hour. */
  readonly savings: number;
}

export interface ConsolidationPlan {
  readonly commands: readonly PlannedCommand[];
  /** Why each other node stays; with `explain`. */
  readonly stays?: readonly { readonly node: string; readonly nodeClaim: string; readonly reason: string }[];
  /** Why NodeOverlays change nothing; with `explain`. */
  readonly idleOverlays?: readonly string[];
}

export interface ConsolidateOptions {
  readonly explain?: boolean;
  readonly spotToSpotConsolidation?: boolean;
}

/** What one pass of disruption would do to a cluster as it stands: nothing is waited for and nothing is done. */
export function consolidateSnapshot(snapshot: Snapshot, options: ConsolidateOptions = {}): ConsolidationPlan {
  const plan = planDisruption({
    snapshot,
    records: [],
    commands: [],
    settings: { cluster: "scenario", spotToSpotConsolidation: options.spotToSpotConsolidation ?? false },
    now: snapshot.now,
    simulate: simulateWithSolve,
    newId: () => "scenario",
  });
  const { command } = plan;
  const commands = command
    ? [
        {
          method: command.method,
          candidates: command.candidates.map(({ node }) => node),
          replacements: command.replacements.map(({ nodePool, requirements, taints, instanceTypes, requests, pods }) => ({
            nodePool,
            requirements,
            taints,
            instanceTypes,
            requests,
            pods,
          })),
          decision: command.decision,
          savings: command.savingsPerHour,
        },
      ]
    : [];
  const stays = plan.blocked.map(({ node, nodeClaim, message }) => ({ node, nodeClaim, reason: message }));
  return { commands, ...(options.explain ? { stays } : {}) };
}

/** The disruption plan for a scenario file ("-" for standard input). Throws InputError. */
export function consolidate(path: string, options: ConsolidateOptions = {}): ConsolidationPlan {
  const scenario = checkScenario(readScenario(path));
  const plan = consolidateSnapshot(scenarioToSnapshot(scenario), options);
  const idle = options.explain ? idleOverlays(scenarioParts(scenario)) : [];
  return idle.length > 0 ? { ...plan, idleOverlays: idle } : plan;
}

/** The plan for people: what goes, what comes instead, what that saves, and why every other node stays. */
export function explainConsolidation({ commands, stays = [], idleOverlays: idle = [] }: ConsolidationPlan): string {
  const lines = commands.flatMap(({ method, decision, candidates, replacements, savings }) => [
    `${method}: ${decision} ${candidates.length} nodes (${candidates.join(", ")}), saving $${savings.toFixed(4)}/h`,
    ...replacements.map(({ nodePool, instanceTypes, pods }) => {
      const [first, ...others] = instanceTypes;
      const more = others.length > 0 ? ` or any of ${others.length} more types` : "";
      return `  in their place: ${first}${more} in ${nodePool}, for ${pods.length} pods`;
    }),
  ]);
  if (commands.length === 0) lines.push("nothing to disrupt");
  for (const { node, nodeClaim, reason } of stays) lines.push(`${node || nodeClaim} stays: ${reason}`);
  return `${[...lines, ...idle].join("\n")}\n`;
}
