import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "#cli/commands.ts";
import { settingsFrom } from "#infra/synthesis.ts";
import { argumentsOf } from "#terminal/command.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { commandsOf, DOCUMENTED } from "../support/documented.ts";

/**
 * Who runs what documents tell people to type: the beginning of a command, and words that must be in it; a file that
 * runs it, and words of that file. The first that fits holds.
 */
const RUN_BY: readonly (readonly [beginning: string, has: string, file: string, words: string])[] = [
  ["npm ci", "", ".ci/run", "npm ci"],
  ["npm i karpenter-serverless", "", "test/account/first-node.ts", "npm i "],
  ["npm test", "", ".ci/run", "npm test"],
  ["npm start", "", ".ci/run", "npm start"],
  ["npm run -s build", "", ".ci/run", "npm run -s build"],
  ["npm run", "", "package.json", '"scripts"'],
  ["account-check", "", "test/installer/account-check/account-check.test.ts", "accountCheck("],
  ["adopt", "", "test/hand-over/karpenter-and-back.ts", "adopt"],
  ["consolidate", "", "test/cli/consolidate/consolidate.test.ts", "consolidate(file)"],
  ["convert", "", "test/cli/convert/on-server.ts", "convert"],
  ["cost", "", "test/infra/release/from-empty-folder.ts", 'run("cost"'],
  ["doctor", "", "test/account/first-node.ts", "karpenter-serverless doctor"],
  ["history", "", "test/cli/history/questions.test.ts", "history"],
  ["install", "--from-karpenter", "test/hand-over/karpenter-and-back.ts", "--from-karpenter"],
  ["install", "", "test/account/first-node.ts", "karpenter-serverless install"],
  ["lab", "", ".ci/run", "npm start"],
  ["manifests", "", "test/account/first-node.ts", "karpenter-serverless manifests"],
  ["observe", "", "test/cli/what-if/on-real-server.ts", '"observe"'],
  ["pause", "", "test/installer/pause/pause.test.ts", "pauseCommand.run"],
  ["resume", "", "test/installer/pause/pause.test.ts", "resume("],
  ["rebuild", "", "test/cli/rebuild/cluster.test.ts", "rebuild"],
  ["report", "", "test/cli/history/questions.test.ts", "report"],
  ["sam", "", ".ci/run", "npm run -s sam"],
  ["solve", "", "test/infra/release/from-empty-folder.ts", 'run("solve"'],
  ["status", "", "test/account/first-node.ts", "karpenter-serverless status"],
  ["synth", "", ".ci/run", "npm run -s synth"],
  ["uninstall", "--keep-nodes", "test/hand-over/karpenter-and-back.ts", "--keep-nodes"],
  ["uninstall", "", "test/account/first-node.ts", "karpenter-serverless uninstall"],
  ["upgrade", "", "test/account/upgrade.ts", "upgrade --cluster"],
  ["view", "", "test/console/on-real-server.ts", '"view"'],
  ["what-if", "", "test/cli/what-if/on-real-server.ts", "what-if"],
  ["why", "", "test/cli/history/questions.test.ts", "why"],
  ["kubectl", "", "test/cli/documented-on-server.ts", "DOCUMENTED"],
  ["aws", "", "test/account/main.ts", "documentedCalls"],
  ["jq", "", "test/cli/documented-on-server.ts", "jq"],
  ["npx -y aws-cdk@2.1148.1", "bootstrap", "test/infra/other-ways.ts", "npx -y aws-cdk@2.1148.1 bootstrap"],
  ["npx -y aws-cdk@2.1148.1", "deploy", "test/infra/other-ways.ts", "npx -y aws-cdk@2.1148.1 deploy"],
  ["sam deploy", "", "test/infra/other-ways.ts", "sam deploy"],
  ["curl", "", "test/console/in-browser.ts", 'startsWith("curl ")'],
  ["printf %s", "", "test/infra/metrics-page.test.ts", "openssl"],
  ["openssl dgst", "", "test/infra/metrics-page.test.ts", "openssl"],
  ["cut -c1-48", "", "test/infra/metrics-page.test.ts", "openssl"],
  ["alias", "", "docs/history.md", "alias"],
  ["export", "", "docs/history.md", "export"],
];

/** The command of our program and its arguments; undefined for another program. */
function ownOf(words: readonly string[]): readonly [string, readonly string[]] | undefined {
  const rest = (from: number): readonly [string, readonly string[]] => [words[from] ?? "", words.slice(from + 1)];
  if (["npx", "kubectl"].includes(words[0] ?? "") && words[1] === "karpenter-serverless") return rest(2);
  if (words[0] === "karpenter-serverless") return rest(1);
  const given = words.includes("--") ? words.slice(words.indexOf("--") + 1) : [];
  if (words[0] === "npm" && words[1] === "start") return ["lab", given];
  if (words[0] !== "npm" || words[1] !== "run") return undefined;
  const script = words.slice(2).find((word) => !word.startsWith("-")) ?? "";
  if (script === "cli") return [given[0] ?? "", given.slice(1)];
  return ["manifests", "cost", "synth", "sam"].includes(script) ? [script, given] : undefined;
}

/** The rows of the table of a page whose head fits, as cells. */
function tableOf(page: string, head: RegExp): readonly (readonly string[])[] {
  const lines = readFileSync(page, "utf8").split("\n");
  const first = lines.findIndex((line) => head.test(line)) + 2;
  const end = lines.findIndex((line, i) => i >= first && !line.startsWith("|"));
  return lines.slice(first, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const all = DOCUMENTED.flatMap(({ page, line }) => commandsOf(line).map((words) => ({ page, line: words.join(" "), words })));
const own = all.flatMap((written) => {
  const found = ownOf(written.words);
  return found === undefined ? [] : [{ ...written, command: found[0], args: found[1] }];
});
const scripts = Object.keys((JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object }).scripts);

describe("the commands that documents tell people to type", () => {
  it("documents show the ways to deploy, to look and to remove", () => {
    const shown = new Set(own.map(({ command }) => command));
    for (const name of ["install", "synth", "sam", "manifests", "status", "doctor", "upgrade", "adopt", "uninstall", "cost"])
      expect(shown).toContain(name);
    for (const page of ["README.md", "docs/deploy.md", "docs/migrate.md", "docs/operate.md"])
      expect(
        all.some((written) => written.page === page),
        page,
      ).toBe(true);
  });

  it.for(own)("the program takes the arguments, $page: $line", async ({ command, args }) => {
    if (command === "sam") return expect(() => settingsFrom(args)).not.toThrow();
    if (command.startsWith("-")) return;
    const found = COMMANDS.find(({ name }) => name === command);
    expect(found, `there is no command ${command}`).toBeDefined();
    if (found === undefined) return;
    const table = await argumentsOf(found);
    expect(() => parseArguments({ ...table, usage: command }, args)).not.toThrow();
  });

  it("each question of a stranger has its place on the page and a command that the program takes", async () => {
    for (const page of ["docs/view.md", "docs/history.md"]) {
      const rows = tableOf(page, /^\| question /i);
      expect(rows.length, page).toBeGreaterThan(6);
      for (const cells of rows) {
        expect(
          cells.every((cell) => cell !== ""),
          `${page}: ${cells.join(" | ")}`,
        ).toBe(true);
        // A key of the terminal view is one letter or number, and what is no command begins otherwise.
        const written = [...(cells.at(-1) ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text.replace(/^ks /, ""));
        for (const [name = "", ...args] of written.map((text) => text.split(" ")).filter(([word = ""]) => !/^(.|--.*)$/.test(word))) {
          const command = COMMANDS.find((one) => one.name === name);
          expect(command, `${page}: there is no command ${name}`).toBeDefined();
          if (command === undefined) continue;
          const table = await argumentsOf(command);
          expect(() => parseArguments({ ...table, usage: name }, args), `${page}: ${name} ${args.join(" ")}`).not.toThrow();
        }
      }
    }
  });

  it("each npm script that documents name is in package.json", () => {
    const named = all.flatMap(({ words }) =>
      words[0] === "npm" && words[1] === "run" ? (words.slice(2).find((word) => !word.startsWith("-")) ?? []) : [],
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });

  it("each command has a place that runs it, which names it", () => {
    const missing = all.flatMap(({ page, words }) => {
      const [name, args] = ownOf(words) ?? [undefined, []];
      const line = name === undefined || name.startsWith("-") ? words.join(" ") : [name, ...args].join(" ");
      const place = RUN_BY.find(([beginning, has]) => line.startsWith(beginning) && line.includes(has));
      if (place === undefined) return [`${page}: nobody runs "${line}"; say in RUN_BY who does`];
      const [, , file, text] = place;
      return existsSync(file) && readFileSync(file, "utf8").includes(text) ? [] : [`${page}: ${file} does not run "${line}"`];
    });
    expect(missing).toEqual([]);
  });
});
