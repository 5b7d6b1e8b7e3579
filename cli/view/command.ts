// `cli view`: shows clusters as a page of this machine, or in the terminal.
// In: live clusters, which are only read, or a snapshot or scenario. Out: a URL that answers until Ctrl-C, or the
// terminal redrawn. It must change nothing, and answer no other machine.

import { SETTING } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { VIEW_OPTIONS, viewOptions } from "./options.ts";

export const viewCommand = defineCommand({
  name: "view",
  summary: "Shows clusters in the browser or the terminal: nodes, cost, pods that wait and why nodes stay; changes nothing",
  positionals: {
    name: "FILE",
    description: 'a snapshot or scenario, plain or gzipped ("-" is standard input), in place of live clusters',
    isRequired: false,
    isList: false,
  },
  options: { ...VIEW_OPTIONS, setting: SETTING },
  run: async (given, print) => {
    const options = viewOptions(given);
    const { showView } = await import("./view.ts");
    await showView(options, print);
    return { output: "" };
  },
});
