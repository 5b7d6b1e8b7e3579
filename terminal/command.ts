import { PROGRAM } from "#settings/program.ts";
import { WIDTH, wrapped } from "./columns.ts";
import {
  ArgumentError,
  argumentLines,
  type OptionTable,
  type ParsedArguments,
  type Positionals,
  parseArguments,
  synopsis,
} from "./command-line.ts";
import { InputError } from "./input-error.ts";

/** What a command has to say. */
export interface Answer {
  /** For standard output. */
  readonly output: string;
  /** What follows the output, printed as it is made; false at the end is exit code 2. */
  readonly parts?: Generator<string, boolean>;
  /** Lines for standard error. */
  readonly messages?: readonly string[];
  /** False where the output needs a person's work before it can be used: exit code 1. */
  readonly isUsable?: boolean;
}

/** Shows a line on standard output at once, before the answer. */
export type Print = (line: string) => void;

interface CommandDefinition<Options extends OptionTable> {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  readonly positionals?: Positionals;
  readonly options: Options;
  /** `print` shows a line at once. Throws InputError. */
  readonly run: (given: ParsedArguments<Options>, print: Print) => Promise<Answer>;
}

/** A command of the program; the one shape that cli/NAME/command.ts exports. */
export interface Command extends Omit<CommandDefinition<OptionTable>, "run"> {
  /** Runs the command with the words behind its name. Throws InputError. */
  readonly run: (args: readonly string[], print: Print) => Promise<Answer>;
  /** The table of arguments, where the command reads them itself. */
  readonly arguments?: () => Promise<{ readonly positionals?: Positionals; readonly options: OptionTable }>;
  /** The page of --help, where it is not made from the table of arguments. */
  readonly help?: () => Promise<string>;
}

/**
 * Makes a command of its table of arguments and of what it does with them.  const hello = defineCommand({ name:
 * "hello", summary: "Greets", options: {}, run: async () => ({ output: "hello\n" }) }); (await hello.run([])).output;
 * // "hello\n"
 */
export function defineCommand<const Options extends OptionTable>({ run, ...shape }: CommandDefinition<Options>): Command {
  const table = { ...shape, usage: `${PROGRAM} ${shape.name}` };
  return {
    ...shape,
    run: async (args, print) => {
      try {
        return await run(parseArguments(table, args), print);
      } catch (error) {
        throw error instanceof ArgumentError ? new InputError(error.message) : error;
      }
    },
  };
}

/** The table of a command's arguments, also where the command reads them itself. */
export async function argumentsOf(command: Command): Promise<{ readonly positionals?: Positionals; readonly options: OptionTable }> {
  return (await command.arguments?.()) ?? command;
}

/** The page of `cli NAME --help`. */
export async function commandHelp(command: Command): Promise<string> {
  if (command.help !== undefined) return command.help();
  const { name, summary } = command;
  return [...wrapped(summary), "", `${PROGRAM} ${name} ${synopsis(command)}`, "", ...argumentLines(command, WIDTH), ""].join("\n");
}
