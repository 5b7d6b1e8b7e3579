import type { Plan } from "#core/model/plan.ts";
import { solve } from "#core/scheduling/solve.ts";
import { preferencesGivenUp, weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import type { Settings } from "#settings/setting-table.ts";
import { InputError } from "#terminal/input-error.ts";
import { checkScenario } from "../scenario/check.ts";
import type { FileAnswer } from "../scenario/each-file.ts";
import { bufferOutcomes, explainBuffers, scenarioHeadroom } from "../scenario/headroom.ts";
import { idleOverlays } from "../scenario/overlays.ts";
import { writtenClaim } from "../scenario/planned-claim.ts";
import { readScenario, scenarioParts, scenarioToSnapshot } from "../scenario/scenario.ts";
import { underSettings } from "../scenario/settings.ts";
import { explainPlan } from "./explain-plan.ts";

/** The plan as JSON (docs/scenario-format.md). `solveMillis` is the duration of the solve. */
export function planToJson(plan: Plan, solveMillis: number): Record<string, unknown> {
  return {
    newNodeClaims: plan.newNodeClaims.map(writtenClaim),
    existingNodes: plan.existingNodes,
    podErrors: plan.podErrors,
    solveMillis,
  };
}

/** The plan for a scenario file ("-" for standard input). Throws InputError. */
export function solveScenario(path: string, settings: Partial<Settings> = {}): FileAnswer {
  const scenario = checkScenario(readScenario(path));
  const start = performance.now();
  const { snapshot, givenUp } = weighPreferences(underSettings(scenarioToSnapshot(scenario), settings), settings);
  let plan: Plan;
  try {
    plan = solve(snapshot, settings);
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${path}: ${error.message}`);
    throw error;
  }
  const solveMillis = Math.round((performance.now() - start) * 1000) / 1000;
  const parts = scenarioParts(scenario);
  const capacityBuffers = bufferOutcomes(scenarioHeadroom(parts), plan, snapshot);
  return {
    plan: { ...planToJson(plan, solveMillis), ...(capacityBuffers.length > 0 && { capacityBuffers }) },
    text: () => {
      const more = [...givenUp.map(preferencesGivenUp), ...explainBuffers(capacityBuffers), ...idleOverlays(parts)].map(
        (line) => `${line}\n`,
      );
      return [explainPlan(plan, snapshot, settings), ...(more.length > 0 ? ["\n", ...more] : [])].join("");
    },
  };
}
