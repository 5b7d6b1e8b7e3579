// `cli consolidate`: plans one pass of disruption over a scenario file.
// In: scenarios (docs/scenario-format.md). Out: the commands of the pass as JSON; with --explain as text, every node
// with why it stays or is removed. It must know no cluster: it waits for nothing and does nothing.

import { defineCommand } from "../command.ts";
import { EXPLAIN, SCENARIO_FILES, SPOT_TO_SPOT } from "../scenario/arguments.ts";

export const consolidateCommand = defineCommand({
  name: "consolidate",
  summary: "Plans one pass of disruption over scenarios",
  positionals: SCENARIO_FILES,
  options: { explain: EXPLAIN, "spot-to-spot": SPOT_TO_SPOT },
  run: async ({ values: { explain, "spot-to-spot": spotToSpotConsolidation }, positionals: files }) => {
    const [{ consolidate }, { explainConsolidation }, { answerForEach }] = await Promise.all([
      import("./consolidate.ts"),
      import("./explain.ts"),
      import("../scenario/each-file.ts"),
    ]);
    const answer = (file: string) => {
      const plan = consolidate(file, { explain, spotToSpotConsolidation });
      return { plan, text: () => explainConsolidation(plan) };
    };
    return { output: "", parts: answerForEach("consolidate", files, { explain, answer }) };
  },
});
