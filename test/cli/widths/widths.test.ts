import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "#cli/commands.ts";
import { WIDTHS } from "../../support/effort.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** What others read (YAML, scripts), or that shows a page or a screen; the lab has a test of its own. */
const WITHOUT_TEXT = new Set(["view", "convert", "lab", "synth", "manifests", "rebuild", "completion"]);

describe.for(WIDTHS)("on a terminal of %i columns", (columns) => {
  const folder = temporaryFolder(`widths-${columns}`);
  const args = ["--disable-warning=ExperimentalWarning", "test/cli/widths/outputs.ts", "--columns", String(columns), "--folder", folder];
  const outputs = (): Readonly<Record<string, string>> =>
    JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1e8 }));

  it("no command prints a line that is wider", { timeout: 60_000 }, () => {
    const all = outputs();
    const wide = Object.entries(all).flatMap(([command, text]) =>
      text.split("\n").flatMap((line) => (line.length > columns ? [`${command}: ${line}`] : [])),
    );
    expect(wide).toEqual([]);
    for (const [command, text] of Object.entries(all)) expect(text, command).not.toContain("nothing was printed");
    const shown = new Set(
      Object.keys(all)
        .filter((words) => !words.endsWith("--help"))
        .map((words) => words.split(" ")[0]),
    );
    expect(COMMANDS.map(({ name }) => name).filter((name) => !shown.has(name) && !WITHOUT_TEXT.has(name))).toEqual([]);
  });
});
