// `cli consolidate`: plans one pass of disruption over a scenario file.
// In: a scenario (docs/scenario-format.md). Out: the commands of the pass as JSON; with --explain as text, every node
// with why it stays or is removed. It must know no cluster: it waits for nothing and does nothing.

import { defineCommand } from "../command.ts";
import { EXPLAIN, SCENARIO_FILE, SPOT_TO_SPOT } from "../scenario/arguments.ts";

export const consolidateCommand = defineCommand({
  name: "consolidate",
  summary: "Plans one pass of disruption over a scenario",
  positionals: SCENARIO_FILE,
  options: { explain: EXPLAIN, "spot-to-spot": SPOT_TO_SPOT },
  run: async ({ values, positionals: [file = ""] }) => {
    const [{ consolidate }, { explainConsolidation }] = await Promise.all([import("./consolidate.ts"), import("./explain.ts")]);
    const plan = consolidate(file, { explain: values.explain, spotToSpotConsolidation: values["spot-to-spot"] });
    return { output: values.explain ? explainConsolidation(plan) : `${JSON.stringify(plan, null, 2)}\n` };
  },
});
