import { type ParseArgsConfig, parseArgs } from "node:util";

/** What a program prints in place of its work, and its exit code. */
export interface Ending {
  readonly text: string;
  readonly exitCode: 0 | 2;
}

/** What `parse` reads from the arguments; the usage for `--help`, and one sentence with the usage when it throws. */
export function parsedOrEnding<T>(
  args: readonly string[],
  usage: string,
  parse: (args: readonly string[]) => T,
): { readonly parsed: T } | Ending {
  if (args.includes("--help")) return { text: usage, exitCode: 0 };
  try {
    return { parsed: parse(args) };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n${usage}`, exitCode: 2 };
  }
}

/** The arguments of this process, which ends with the usage for `--help` and for what the options do not allow. */
export function programOptions<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  const read = parsedOrEnding(process.argv.slice(2), usage, () => parseArgs(config));
  if ("parsed" in read) return read.parsed;
  if (read.exitCode === 0) console.log(read.text);
  else console.error(read.text);
  process.exit(read.exitCode);
}
