// `cli completion`: what a shell needs to complete the words of this program.
// In: the name of a shell. Out: a script for it, made from the tables of arguments of all commands.

import { INSTALLED } from "#settings/program.ts";
import { IS_RELEASE } from "#settings/release.ts";
import { argumentsOf, type Command, defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { SHELLS } from "./shells.ts";

/** @param commands all commands of the program; asked when the command runs, because it is one of them */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: "completion",
    summary: "Prints what bash, zsh or fish needs to complete the words of this program",
    positionals: { name: "SHELL", description: "bash, zsh or fish", isRequired: true, isList: false, words: SHELLS },
    options: {},
    run: async ({ positionals: [shell = ""] }) => {
      const { completionScript } = await import("./scripts.ts");
      const known = SHELLS.find((one) => one === shell);
      if (known === undefined) throw new InputError(`completion knows ${SHELLS.join(", ")}, not "${shell}"`);
      const completed = await Promise.all(commands().map(async (command) => ({ ...command, ...(await argumentsOf(command)) })));
      // A checkout has no program that a shell could complete.
      const messages = IS_RELEASE ? [] : [`This completes ${INSTALLED}, which a release installs (npm run release).`];
      return { output: completionScript(known, INSTALLED, completed), messages };
    },
  });
}
