import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { COMMANDS } from "#cli/commands.ts";
import { runCommandLine } from "#cli/run.ts";
import type { Json } from "#core/lib/json.ts";
import { hash, type Random, seeded } from "#lab/world/random.ts";
import { argumentsOf, type Command } from "#terminal/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mutatedJson, mutatedText, ODD_TEXTS } from "./mutate.ts";

/**
 * Command lines of odd words, over scenarios, snapshots and manifests changed at odd places.
 * In: a seed. Out: what a command did wrong: it answers (exit code 0 or 1), or says in one sentence what is wrong
 * (exit code 2), never with the words of a JavaScript engine.
 */

/** Commands that ask no account and no cluster. The lab prints while it plays, and is played elsewhere. */
const OFFLINE = new Set(["solve", "consolidate", "what-if", "convert", "cost", "manifests", "completion"]);
/** Options that would ask one, write files, or serve a page until they are stopped. */
const ELSEWHERE = new Set(["context", "kubeconfig", "stack", "save", "out", "region", "server", "view"]);
const FAR = COMMANDS.filter(({ name }) => OFFLINE.has(name)) as [Command, ...Command[]];

const TEST = join(import.meta.dirname, "..");
const samples = (folder: string, ending: string): [string, ...string[]] =>
  readdirSync(join(TEST, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(TEST, folder, name), "utf8")) as [string, ...string[]];
const SCENARIOS = samples("scenarios/scheduling", ".in.json");
const MANIFESTS = samples("cli/convert/cases", ".in.yaml");
const folder = temporaryFolder("odd-command-lines");

/** Words of a JavaScript engine: they say nothing to a user. */
export const ENGINE =
  /Cannot (read|convert|mix|destructure)|is not a function|is not iterable|undefined|Maximum call stack|Invalid (array|time|count)|at .*\.ts:\d+|Reduce of|heap/;

/** How long a command may take, ms of CPU: longer is a hang. */
export const MAX_COMMAND_MS = 5_000;

export async function wrongWithOddCommandLine(seed: number): Promise<string | undefined> {
  const random = seeded(hash(`seed ${seed}`)).fork("command line");
  const command = random.pick(FAR);
  const words = [command.name, ...(await argumentsFor(command, random))];
  let [out, err] = ["", ""];
  const streams = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } };
  const before = process.cpuUsage();
  const code = await runCommandLine(FAR, words, streams).catch((error: Error) => {
    err = error.stack ?? error.message;
    return -1;
  });
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1_000;
  const what = words.map((word) => (/[\s'"]/.test(word) || word === "" ? JSON.stringify(word) : word).slice(0, 100)).join(" ");
  const problem = wrongIn(code, out, err) ?? (ms > MAX_COMMAND_MS ? `took ${Math.round(ms)} ms` : undefined);
  return problem && `${what}: ${problem}`;
}

function wrongIn(code: number, out: string, err: string): string | undefined {
  if (![0, 1, 2].includes(code)) return `threw ${err.slice(0, 400)}`;
  if (code !== 2) return undefined;
  // Of several files, those that cannot be read are told in the output.
  const text = err === "" ? out : err;
  // The checks do not know every field of the API: such a failure names its command and is one sentence, too.
  if (text.includes("either a field has a shape that the Kubernetes API refuses")) return undefined;
  if (text.trim() === "") return "says nothing, with exit code 2";
  const engine = ENGINE.exec(text)?.[0];
  if (engine !== undefined) return `says "${engine}": ${text.slice(0, 400)}`;
  return err !== "" && err.trimEnd().split("\n").length > 1 ? `says several lines: ${err.slice(0, 400)}` : undefined;
}

/** How many files are named: mostly one, which is what a command takes. */
const FILES: readonly [number, ...number[]] = [0, 2, 2, ...Array<number>(17).fill(1)];
/** Few, because the first one that is refused hides what follows. */
const OPTION_CHANCE = 0.06;

async function argumentsFor(command: Command, random: Random): Promise<readonly string[]> {
  const { positionals, options } = await argumentsOf(command);
  const words: string[] = [];
  if (positionals !== undefined) for (let count = random.pick(FILES); count > 0; count--) words.push(fileFor(command, random));
  const names = Object.keys(options).filter((name) => !ELSEWHERE.has(name));
  for (const name of names) {
    const option = options[name];
    const isNeeded = option?.type === "text" && "isRequired" in option && option.isRequired === true;
    if (random.next() > (isNeeded ? 0.97 : OPTION_CHANCE)) continue;
    words.push(`--${name}`, ...(option?.type === "flag" ? [] : [valueFor(name, random)]));
  }
  if (random.next() < 0.05) words.push(random.pick(ODD_TEXTS).replaceAll("\0", ""));
  if (random.next() < 0.03) words.push(`--${random.pick(["", "no-such", "constructor", "__proto__", "set=", "help=x"])}`);
  // Bounds of the search, so that a scenario that is only a little odd takes no minutes.
  const bounds = { quiet: [], days: ["1"], decisions: ["1"] };
  if (command.name === "what-if")
    for (const [name, value] of Object.entries(bounds)) if (!words.includes(`--${name}`)) words.push(`--${name}`, ...value);
  // No process is given a NUL, and "-" reads standard input, which nobody closes here.
  return words.filter((word) => !word.includes("\0") && word !== "-" && !isFolderElsewhere(word));
}

/** A command reads a folder whole: one that is not ours, such as "../..", holds what the machine happens to have. */
function isFolderElsewhere(word: string): boolean {
  try {
    return statSync(word).isDirectory() && !resolve(word).startsWith(folder);
  } catch {
    return false;
  }
}

const VALUES: readonly [string, ...string[]] = [
  ...(["c1", "default", "1", "0", "100", "5%/day", "0%/day", "1e3", "٣", "notify,sweep", "bash", "json", "us-west-2", "none"] as const),
  ...["default=20%", "default=200%", "default=-1", "default=", "=", "c7g,m7g", "nodepool/default.spec.weight=1", "30s", "https://x/"],
  ...["nodepool/default.spec.__proto__.x=1", "nodepool/default.spec.limits.cpu=1e1.5", "0123456789abcdef0123", "web=3", "9".repeat(400)],
];

function valueFor(name: string, random: Random): string {
  if (/apply|file|pool$/.test(name) && random.next() < 0.5) return written("yaml", mutatedText(random.pick(MANIFESTS), random));
  const kind = random.next();
  return kind < 0.7 ? random.pick(VALUES) : kind < 0.85 ? random.pick(ODD_TEXTS) : mutatedText(random.pick(VALUES), random);
}

function fileFor(command: Command, random: Random): string {
  if (random.next() < 0.05) return random.pick(["/", "no-such-file.json", folder, "", "-x", "/dev/null", "\n"]);
  if (command.name === "completion") return random.pick(["bash", "zsh", "fish", ...ODD_TEXTS]);
  if (command.name === "convert") return written("yaml", oddManifest(random));
  const text = random.pick(SCENARIOS);
  const odd = random.next() < 0.2 ? mutatedText(text, random) : JSON.stringify(mutatedJson(JSON.parse(text) as Json, random));
  if (random.next() < 0.1) return written("json.gz", gzipSync(odd).subarray(0, random.pick([1e9, 20])));
  return written("json", odd);
}

function oddManifest(random: Random): string {
  const text = mutatedText(random.pick(MANIFESTS), random);
  return random.next() < 0.9
    ? text
    : text + random.pick(["\n---\n".repeat(3_000), "${".repeat(100_000), `\nx: ${"[".repeat(100_000)}`, "{{".repeat(50_000)]);
}

function written(ending: string, content: string | Uint8Array): string {
  const path = join(folder, `input.${ending}`);
  writeFileSync(path, content);
  return path;
}
