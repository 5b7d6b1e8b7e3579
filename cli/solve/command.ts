// `cli solve`: plans nodes for the pending pods of a scenario file.
// In: scenarios (docs/scenario-format.md). Out: the plan as JSON, or with --explain as text: prices, reasons, advice.
// It asks the solver only and must know no cluster, no cloud and no file but the scenario.

import { EXPLAIN, SCENARIO_FILES, SETTING } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";

export const solveCommand = defineCommand({
  name: "solve",
  summary: "Plans nodes for the pending pods of scenarios",
  positionals: SCENARIO_FILES,
  options: { explain: EXPLAIN, setting: SETTING },
  run: async ({ values: { explain, setting }, positionals: files }) => {
    const [{ solveScenario }, { answerForEach }, { decisionSettingsOf }] = await Promise.all([
      import("./solve.ts"),
      import("../scenario/each-file.ts"),
      import("../scenario/settings.ts"),
    ]);
    const settings = decisionSettingsOf(setting);
    return { output: "", parts: answerForEach("solve", files, { explain, answer: (file) => solveScenario(file, settings) }) };
  },
});
