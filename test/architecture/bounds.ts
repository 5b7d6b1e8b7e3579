import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { ROOT, readTree, type SourceTree } from "./source-tree.ts";

/** The most lines of a file of the product. */
export const MAX_FILE_LINES = 300;

/** What is over a bound today, by bound. The list may only get shorter. */
type Offenders = Readonly<Record<string, readonly string[]>>;

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string; readonly start: { readonly line: number; readonly column: number } };
}

const LIST = join(ROOT, "test/architecture/bounds.json");
const RULES = ["complexity/noExcessiveCognitiveComplexity", "complexity/noExcessiveLinesPerFunction"];

/** The name of the function that a linter's place is in, or the line's text for one without a name. */
export function functionAt(line: string): string {
  const [, name] = /(?:function\*?|const|get|async)\s+(#?\w+)\s*[<(=:]|^\s*(?:readonly\s+)?(#?\w+)\s*[(=:<]/.exec(line) ?? [];
  return name ?? /^\s*(#?\w+)\s*[(=:<]/.exec(line)?.[1] ?? line.trim();
}

/** Functions over the bounds of bounds-of-functions.json, by rule. */
function longFunctions(): Offenders {
  const args = ["lint", `--config-path=${join(ROOT, "test/architecture/bounds-of-functions.json")}`, "--reporter=json"];
  const only = RULES.map((rule) => `--only=${rule}`);
  const output = biome([...args, "--max-diagnostics=none", ...only, ...PRODUCT_FOLDERS]);
  const { diagnostics } = JSON.parse(output) as { readonly diagnostics: readonly Diagnostic[] };
  const named = diagnostics.map(({ category, location }) => {
    const text = readFileSync(join(ROOT, location.path), "utf8").split("\n")[location.start.line - 1] ?? "";
    return { rule: category.replace("lint/complexity/", ""), place: `${location.path}: ${functionAt(text)}` };
  });
  return byRule(named);
}

/** Biome's standard output, with or without faults. */
function biome(args: readonly string[]): string {
  const { stdout, error } = spawnSync(join(ROOT, "node_modules/.bin/biome"), args, { cwd: ROOT, encoding: "utf8", maxBuffer: 1e8 });
  if (error) throw error;
  return stdout;
}

function byRule(all: readonly { readonly rule: string; readonly place: string }[]): Offenders {
  const groups = Object.groupBy(all, ({ rule }) => rule);
  return Object.fromEntries(Object.entries(groups).map(([rule, of = []]) => [rule, [...new Set(of.map(({ place }) => place))].sort()]));
}

/** Files of the product over MAX_FILE_LINES. */
export function longFiles(tree: SourceTree): readonly string[] {
  return [...tree].filter(([, text]) => text.trimEnd().split("\n").length > MAX_FILE_LINES).map(([file]) => file);
}

/** What differs from the list: one sentence for each place that is new, and for each that may leave the list. */
export function problems(found: Offenders, listed: Offenders): readonly string[] {
  return [...new Set([...Object.keys(found), ...Object.keys(listed)])].flatMap((rule) => {
    const [are, were] = [found[rule] ?? [], listed[rule] ?? []];
    return [
      ...are.filter((place) => !were.includes(place)).map((place) => `${place} is over the bound ${rule}; make it shorter or simpler`),
      ...were
        .filter((place) => !are.includes(place))
        .map((place) => `${place} keeps the bound ${rule}; run with --write to take it off the list`),
    ];
  });
}

if (import.meta.main) {
  const found = { ...longFunctions(), filesOver300Lines: longFiles(readTree(PRODUCT_FOLDERS, [".ts", ".tsx"])) };
  const listed = JSON.parse(readFileSync(LIST, "utf8")) as Offenders;
  const kept = Object.fromEntries(
    Object.entries(listed).map(([rule, places]) => [rule, places.filter((one) => found[rule as keyof typeof found]?.includes(one))]),
  );
  if (process.argv.includes("--write")) writeFileSync(LIST, `${JSON.stringify(kept, null, 2)}\n`);
  const wrong = problems(found, process.argv.includes("--write") ? kept : listed);
  for (const one of wrong) console.log(one);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
