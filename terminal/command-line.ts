// The argument parser of the two programs for a terminal, cli/ and lab/, which never import each other.
// In: the words after a command's name, and a table of the arguments that the command takes. Out: typed values, or one
// sentence on what is wrong; the lines of --help come from the same table. It knows no command and prints nothing.

import { parseArgs } from "node:util";
import { nearest } from "#core/lib/nearest.ts";
import { wrap } from "#core/lib/wrap.ts";

/**
 * A reader of the output that ends early (`| head`, or a command that fails) is no error of the program, and says
 * itself what is wrong.
 */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}

/** What is wrong with the words of a command line, in one sentence. */
export class ArgumentError extends Error {}

/**
 * An option: a flag takes no value, a text one value, a list a value each time that the option is given. `short` is one
 * letter.
 */
type Option =
  | { readonly type: "flag"; readonly description: string }
  | { readonly type: "text"; readonly value: string; readonly description: string; readonly isRequired?: true }
  | { readonly type: "list"; readonly value: string; readonly description: string; readonly short?: string };

/** An option with one value that need not be given; `value` is its name in `--help`. */
export const text = <Value extends string>(value: Value, description: string) => ({ type: "text", value, description }) as const;

/** An option without a value. */
export const flag = (description: string) => ({ type: "flag", description }) as const;

/** Options by name, without the dashes. */
export type OptionTable = Readonly<Record<string, Option>>;

/** Words that belong to no option. */
export interface Positionals {
  /** As `--help` and error sentences name them: "FILE". */
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Several words may be given. */
  readonly isList: boolean;
  /** The words that may be given, which shells complete; absent for files and free text. */
  readonly words?: readonly string[];
}

/**
 * The arguments that a command takes.
 *
 *     const seed = { type: "text", value: "N", description: "…" } as const;
 *     const table = { usage: "npm start --", options: { seed } } as const;
 *     parseArguments(table, ["--seed", "7"]).values.seed; // "7"
 */
interface ArgumentTable<Options extends OptionTable = OptionTable> {
  /** The command as a person types it; error sentences and `--help` quote it. */
  readonly usage: string;
  /** Absent where every word belongs to an option. */
  readonly positionals?: Positionals;
  readonly options: Options;
}

/** A flag is true or false, a list is empty where it is not given, and a text that is not required may be undefined. */
export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]: Options[Name] extends { readonly type: "flag" }
    ? boolean
    : Options[Name] extends { readonly type: "list" }
      ? readonly string[]
      : Options[Name] extends { readonly isRequired: true }
        ? string
        : string | undefined;
};

export interface ParsedArguments<Options extends OptionTable = OptionTable> {
  readonly values: OptionValues<Options>;
  readonly positionals: readonly string[];
}

/** Whether the words ask for help; what else is in them does not matter then. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).some((word) => word === "--help" || word === "-h");
}

/**
 * Reads the words of a command line by a table. An option that takes one value may be given once only, because it would
 * not be clear which of two values counts. Throws ArgumentError.
 */
export function parseArguments<Options extends OptionTable>(
  table: ArgumentTable<Options>,
  args: readonly string[],
): ParsedArguments<Options> {
  const { options, usage } = table;
  const config = Object.entries(options).map(
    ([name, option]) => [name, { type: option.type === "flag" ? "boolean" : "string", ...shortOf(option) }] as const,
  );
  // Not strict: Node's own sentences are long and suggest no name.
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(config),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, table);
    const values = given.get(token.name) ?? [];
    if (values.length > 0 && option.type !== "list") throw new ArgumentError(`--${token.name} is given twice; leave one of them out`);
    given.set(token.name, [...values, valueFor(token, option)]);
  }
  checkPositionals(positionals, table);
  const values = Object.entries(options).map(([name, option]) => {
    const all = given.get(name) ?? [];
    if (option.type === "text" && option.isRequired && all.length === 0)
      throw new ArgumentError(`--${name} ${option.value} is missing; see ${usage} --help`);
    return [name, option.type === "flag" ? all.length > 0 : option.type === "list" ? all : all[0]] as const;
  });
  return { values: Object.fromEntries(values) as OptionValues<Options>, positionals };
}

/** `short` of an option that has one. */
const shortOf = (option: Option): { readonly short?: string } =>
  option.type === "list" && option.short !== undefined ? { short: option.short } : {};

interface OptionToken {
  readonly name: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function valueFor({ name, value, inlineValue }: OptionToken, option: Option): string {
  if (option.type === "flag") {
    if (value !== undefined) throw new ArgumentError(`--${name} takes no value, but there is "${value}"`);
    return "";
  }
  if (value === undefined) throw new ArgumentError(`--${name} needs a value: --${name} ${option.value}`);
  // "-" alone is standard input.
  if (inlineValue !== true && value.length > 1 && value.startsWith("-"))
    throw new ArgumentError(`--${name} needs a value, and ${value} looks like an option; write --${name}=${value} if it is the value`);
  return value;
}

function unknownOption(rawName: string, { options, usage }: ArgumentTable): ArgumentError {
  const near = nearest(rawName.replace(/^-+/, ""), [...Object.keys(options), "help"]);
  return new ArgumentError(`there is no option ${rawName}; ${near === undefined ? `see ${usage} --help` : `did you mean --${near}?`}`);
}

function checkPositionals(words: readonly string[], { positionals, usage }: ArgumentTable): void {
  const [first, second] = words;
  if (positionals === undefined) {
    if (first !== undefined) throw new ArgumentError(`${first} belongs to no option; see ${usage} --help`);
    return;
  }
  const { name, isRequired, isList } = positionals;
  if (isRequired && first === undefined) throw new ArgumentError(`${name} is missing; see ${usage} --help`);
  if (!isList && second !== undefined) throw new ArgumentError(`one ${name} is enough, but there is also ${second}; see ${usage} --help`);
}

/** A whole number above 0. Throws ArgumentError. */
export function wholeNumber(text: string | number, option: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new ArgumentError(`${option} takes a whole number above 0, not "${text}"`);
}

/** One of some words. Throws ArgumentError. */
export function oneOf<Word extends string>(text: string, words: readonly Word[], option: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new ArgumentError(`${option} is one of ${words.join(", ")}, not "${text}"`);
}

/** The arguments of a table for `--help`, a line or more for each, `width` characters wide. */
export function argumentLines({ positionals, options }: Omit<ArgumentTable, "usage">, width: number): readonly string[] {
  const rows = Object.entries(options).map(([name, option]): readonly [string, string] => [
    `${option.type === "list" && option.short !== undefined ? `-${option.short}, ` : ""}--${name}${option.type === "flag" ? "" : ` ${option.value}`}`,
    option.description,
  ]);
  return twoColumns([...(positionals ? [[positionals.name, positionals.description] as const] : []), ...rows], width);
}

/** Two columns with two blanks before each, the second wrapped. */
export function twoColumns(rows: readonly (readonly [string, string])[], width: number): readonly string[] {
  const indent = Math.max(...rows.map(([label]) => label.length), 0) + 4;
  return rows.flatMap(([label, text]) =>
    wrap(text, width, indent).map((line, i) => (i === 0 ? `  ${label}`.padEnd(indent) + line.trimStart() : line)),
  );
}

/** "[SOURCE] [options]", for the usage line of `--help`. */
export function synopsis({ positionals, options }: Omit<ArgumentTable, "usage">): string {
  const { name = "", isRequired = false, isList = false } = positionals ?? {};
  const word = isList ? `${name}...` : name;
  const required = Object.entries(options).flatMap(([key, option]) =>
    option.type === "text" && option.isRequired ? [`--${key} ${option.value}`] : [],
  );
  return [...(positionals ? [isRequired ? word : `[${word}]`] : []), ...required, "[options]"].join(" ");
}
