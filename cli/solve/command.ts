// `cli solve`: plans nodes for the pending pods of a scenario file.
// In: a scenario (docs/scenario-format.md). Out: the plan as JSON, or with --explain as text: prices, reasons, advice.
// It asks the solver only and must know no cluster, no cloud and no file but the scenario.

import { defineCommand } from "../command.ts";
import { EXPLAIN, SCENARIO_FILE } from "../scenario/arguments.ts";

export const solveCommand = defineCommand({
  name: "solve",
  summary: "Plans nodes for the pending pods of a scenario",
  positionals: SCENARIO_FILE,
  options: { explain: EXPLAIN },
  run: async ({ values, positionals: [file = ""] }) => {
    const { solveScenario } = await import("./solve.ts");
    return { output: solveScenario(file, values) };
  },
});
