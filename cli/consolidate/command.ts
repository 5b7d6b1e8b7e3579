// `cli consolidate`: plans one pass of disruption over a scenario file.
// In: scenarios (docs/scenario-format.md). Out: the commands of the pass as JSON; with --explain as text, every node
// with why it stays or is removed. It must know no cluster: it waits for nothing and does nothing.

import { EXPLAIN, SCENARIO_FILES, SETTING, SPOT_TO_SPOT } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";

export const consolidateCommand = defineCommand({
  name: "consolidate",
  summary: "Plans one pass of disruption over scenarios",
  positionals: SCENARIO_FILES,
  options: { explain: EXPLAIN, "spot-to-spot": SPOT_TO_SPOT, setting: SETTING },
  run: async ({ values: { explain, "spot-to-spot": spotToSpot, setting }, positionals: files }) => {
    const [{ consolidate }, { explainConsolidation }, { answerForEach }, { decisionSettingsOf }] = await Promise.all([
      import("./consolidate.ts"),
      import("./explain.ts"),
      import("../scenario/each-file.ts"),
      import("../scenario/settings.ts"),
    ]);
    const settings = { ...decisionSettingsOf(setting), ...(spotToSpot && { spotToSpotConsolidation: true }) };
    const answer = (file: string) => {
      const plan = consolidate(file, { explain, settings });
      return { plan, text: () => explainConsolidation(plan) };
    };
    return { output: "", parts: answerForEach("consolidate", files, { explain, answer }) };
  },
});
