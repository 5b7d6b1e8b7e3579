import { nearest } from "#core/lib/nearest.ts";
import { PROGRAM } from "#settings/program.ts";
import { VERSION } from "#settings/version.ts";
import { fitted, WIDTH } from "#terminal/columns.ts";
import { type Answer, type Command, commandHelp, type Print } from "#terminal/command.ts";
import { asksForHelp, twoColumns } from "#terminal/command-line.ts";
import { InputError, sentenceOf } from "#terminal/input-error.ts";
import { type Signs, signsOfLife } from "#terminal/signs.ts";

/** Where the program prints. */
export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Gives signs of life; without it they go to standard error of the process where `stderr` is that. */
  readonly signs?: (name: string) => Signs;
}

/**
 * Runs the command that the words name. Returns the exit code: 0; 1 where the answer is not usable yet; 2 with one
 * sentence on standard error, never a stack trace, where the input or the command line is bad, or where the output
 * holds such a sentence for one of several inputs.
 */
export async function runCommandLine(commands: readonly Command[], args: readonly string[], streams: Streams): Promise<number> {
  const { stdout, stderr, signs: makeSigns = stderr === process.stderr ? signsOfLife : undefined } = streams;
  const [name, ...rest] = args;
  const isBusy = name !== undefined && KEEPS_BUSY.has(name) && !rest.some((word) => SILENCING.has(word));
  const signs = isBusy ? makeSigns?.(name) : undefined;
  try {
    const heard = (): void => signs?.heard();
    const { output, parts, messages = [], isUsable = true } = await answerTo(name, rest, commands, { stdout, stderr }, heard);
    stderr.write(messages.map((line) => `${shown(line, stderr)}\n`).join(""));
    stdout.write(name !== undefined && READ_BY_PEOPLE.has(name) ? shown(output, stdout) : output);
    if (parts !== undefined && !printed(parts, stdout, heard)) return 2;
    return isUsable ? 0 : 1;
  } catch (error) {
    stderr.write(`${shown(sentenceOf(error, name), stderr)}\n`);
    return 2;
  } finally {
    signs?.end();
  }
}

/** Words after which no answer is awaited, or no progress is wanted: a page has no end. */
const SILENCING: ReadonlySet<string> = new Set(["--help", "-h", "--quiet", "--view"]);

/** Commands that plan, synthesise or wait for others, with lines of their own in between. */
const KEEPS_BUSY: ReadonlySet<string> = new Set([
  ...["solve", "consolidate", "what-if", "install", "adopt", "upgrade", "uninstall", "synth"],
]);

/** Commands whose answer is text, unless they are asked for JSON. */
const READ_BY_PEOPLE: ReadonlySet<string> = new Set([
  ...["install", "adopt", "status", "doctor", "upgrade", "pause", "resume", "uninstall", "why", "history", "what-if", "cost", "rebuild"],
]);

/** Long lines are broken on a terminal; in a pipe they stay whole, and JSON does everywhere. */
function shown(text: string, { isTTY = false }: Streams["stdout"]): string {
  return isTTY && !/^[[{]/.test(text) ? fitted(text) : text;
}

/** Prints the parts; false where some of their inputs could not be read. */
function printed(parts: Generator<string, boolean>, stdout: Streams["stdout"], heard: () => void): boolean {
  let part = parts.next();
  for (; !part.done; part = parts.next()) {
    heard();
    stdout.write(part.value);
  }
  return part.value;
}

async function answerTo(
  name: string | undefined,
  rest: readonly string[],
  commands: readonly Command[],
  { stdout, stderr }: Streams,
  heard: () => void,
): Promise<Answer> {
  const print: Print = (line) => {
    heard();
    stdout.write(`${shown(line, stdout)}\n`);
  };
  const names = commands.map((command) => command.name);
  if (name === "--version") return { output: `karpenter-serverless ${VERSION}\n` };
  if (name === undefined) throw new InputError(`name a command, one of ${names.join(", ")}; see ${PROGRAM} --help`);
  const command = commands.find((one) => one.name === name);
  if (asksForHelp([name, ...rest])) return { output: fitted(command === undefined ? programHelp(commands) : await commandHelp(command)) };
  if (command !== undefined) return await atWork(command, stderr, () => command.run(rest, print));
  if (name.startsWith("-")) throw new InputError(`name a command before ${name}, one of ${names.join(", ")}; see ${PROGRAM} --help`);
  const near = nearest(name, names);
  throw new InputError(`there is no command ${name}; ${near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`}`);
}

/** Commands that ask nothing and print nothing before their answer, while AWS or a cluster answers. */
const ANSWERS_AT_THE_END: ReadonlySet<string> = new Set(["status", "doctor", "why", "history", "report", "rebuild"]);
/** How long a command works without a sign of it. */
const SIGN_EVERY_MS = 2_000;

/** Says on standard error, also in a pipe, that a command which answers at its end still works. */
async function atWork(command: Command, stderr: Streams["stderr"], work: () => Promise<Answer>): Promise<Answer> {
  if (!ANSWERS_AT_THE_END.has(command.name)) return work();
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += SIGN_EVERY_MS / 1_000;
    stderr.write(`${command.name}: reading for ${seconds} s\n`);
  }, SIGN_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function programHelp(commands: readonly Command[]): string {
  return [
    "karpenter-serverless: a node autoscaler for EKS without controller pods",
    "",
    ...twoColumns(
      commands.map(({ name, summary }) => [name, summary]),
      WIDTH,
    ),
    "",
    `${PROGRAM} COMMAND --help lists the arguments of a command, --version prints the version.`,
    "",
  ].join("\n");
}
