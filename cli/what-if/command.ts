// `cli what-if`: what a change of NodePools and their like would do to the nodes and the bill of a cluster.
// In: a snapshot file or a live cluster, which is only read, and the change. Out: bills side by side with the course of
// events, as a table or JSON; with --save, a file. It must write nothing else, and nothing to a cluster.

import { defineCommand } from "#terminal/command.ts";
import { WHAT_IF_OPTIONS, WHAT_IF_SOURCE, whatIfOptions } from "./options.ts";

export const whatIfCommand = defineCommand({
  name: "what-if",
  summary: "What a change of definitions would do to the nodes and the bill of a snapshot or a live cluster; changes nothing",
  positionals: WHAT_IF_SOURCE,
  options: WHAT_IF_OPTIONS,
  run: async (given, print) => {
    const options = whatIfOptions(given);
    const { answerWhatIf } = await import("./what-if.ts");
    return { output: await answerWhatIf(options, print) };
  },
});
