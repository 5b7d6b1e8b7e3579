import { ManifestError } from "#manifests/read.ts";
import type { Command } from "#terminal/command.ts";
import { ArgumentError } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";

/** The lab as a command of the program. It reads its own arguments, and prints while it plays. */
export const labCommand: Command = {
  name: "lab",
  summary: "Plays stories, or manifests of your own, in a simulated cluster",
  options: {},
  arguments: async () => (await import("#lab/lab.ts")).LAB_ARGUMENTS,
  help: async () => (await import("#lab/lab.ts")).labHelp(),
  run: async (args) => {
    const { runLab } = await import("#lab/lab.ts");
    try {
      await runLab(args);
    } catch (error) {
      throw error instanceof ArgumentError || error instanceof ManifestError ? new InputError(error.message) : error;
    }
    return { output: "" };
  },
};
