import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { argumentsOf } from "../../cli/command.ts";
import { COMMANDS } from "../../cli/commands.ts";
import { parseArguments } from "../../functions/adapters/command-line.ts";
import { settingsFrom } from "../../infra/synthesis.ts";

/** The path of a newcomer: from what it is, to a deployment by each way, and out again. */
const PAGES = ["README.md", "docs/index.md", "docs/deploy.md", "docs/security.md", "docs/costs.md"];

interface Written {
  readonly page: string;
  readonly line: string;
  readonly words: readonly string[];
}

/** The commands of the shell blocks of a page, without comments, pipes and what follows them. */
function commandsOf(page: string): readonly Written[] {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) =>
    block.replaceAll("\\\n", " "),
  );
  return blocks.flatMap((block) =>
    block.split("\n").flatMap((text) =>
      text
        .replace(/\s#\s.*$/, "")
        .split(/ \| | && |; /)
        .map((line) => line.trim())
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => ({ page, line, words: line.split(/\s+/) })),
    ),
  );
}

const all = PAGES.flatMap(commandsOf);
const scripts = Object.keys((JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object }).scripts);

/** The command of our program and its arguments; undefined for another program. */
function ownOf(words: readonly string[]): readonly [string, readonly string[]] | undefined {
  const rest = (from: number): readonly [string, readonly string[]] => [words[from] ?? "", words.slice(from + 1)];
  if (words[0] === "npx" && words[1] === "karpenter-serverless") return rest(2);
  if (words[0] === "kubectl" && words[1] === "karpenter-serverless") return rest(2);
  if (words[0] === "karpenter-serverless") return rest(1);
  if (words[0] !== "npm" || words[1] !== "run") return undefined;
  const script = words.slice(2).find((word) => !word.startsWith("-")) ?? "";
  const given = words.includes("--") ? words.slice(words.indexOf("--") + 1) : [];
  if (script === "cli") return [given[0] ?? "", given.slice(1)];
  return ["manifests", "cost", "synth", "sam"].includes(script) ? [script, given] : undefined;
}

const own = all.flatMap((written) => {
  const found = ownOf(written.words);
  return found === undefined ? [] : [{ ...written, command: found[0], args: found[1] }];
});

describe("the commands that documents tell newcomers to type", () => {
  it("documents show the ways to deploy, to look and to remove", () => {
    const shown = new Set(own.map(({ command }) => command));
    for (const name of ["install", "synth", "sam", "manifests", "status", "doctor", "uninstall", "cost"]) expect(shown).toContain(name);
  });

  it.for(own)("$page: $line", async ({ command, args }) => {
    if (command === "sam") return expect(() => settingsFrom(args)).not.toThrow();
    if (command.startsWith("-")) return;
    const found = COMMANDS.find(({ name }) => name === command);
    expect(found, `there is no command ${command}`).toBeDefined();
    if (found === undefined) return;
    const table = await argumentsOf(found);
    expect(() => parseArguments({ ...table, usage: command }, args)).not.toThrow();
  });

  it("each npm script that documents name is in package.json", () => {
    const named = all.flatMap(({ words }) =>
      words[0] === "npm" && words[1] === "run" ? (words.slice(2).find((word) => !word.startsWith("-")) ?? []) : [],
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });
});
