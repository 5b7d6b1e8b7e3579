import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "#cli/commands.ts";
import { INTENT } from "#core/model/labels.ts";
import { REGISTRATIONS } from "#core/node-pool/registration-health.ts";
import { FORMER_REPLICAS } from "#installer/migrate/karpenter-deployment.ts";
import { INSTALLED } from "#settings/program.ts";
import { argumentsOf } from "#terminal/command.ts";
import { parseArguments } from "#terminal/command-line.ts";

/** The pages that tell a person what to type, and the commands that they must name. */
const PAGES = {
  "docs/migrate.md": ["install", "adopt", "uninstall", "what-if"],
  "docs/deploy.md": ["install", "upgrade", "uninstall", "status", "doctor"],
} as const;

/** The program's command lines in a page's blocks for a shell. */
function commandLines(page: string): readonly (readonly string[])[] {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll("\\\n", " ").split("\n"));
  return lines.flatMap((line) => {
    const [, words] = new RegExp(`(?:npx |^ *)${INSTALLED} ([^|#]+)`).exec(line) ?? [];
    return words === undefined ? [] : [words.trim().split(/\s+/)];
  });
}

describe.for(Object.entries(PAGES))("%s", ([page, named]) => {
  it("has no command line that the program refuses", async () => {
    const lines = commandLines(page);
    expect(lines.length).toBeGreaterThan(4);
    for (const [name, ...args] of lines) {
      const command = COMMANDS.find((one) => one.name === name);
      expect(command, name).toBeDefined();
      if (command === undefined) continue;
      const table = await argumentsOf(command);
      expect(() => parseArguments({ ...table, name: command.name, usage: "" } as never, args), `${name} ${args.join(" ")}`).not.toThrow();
    }
  });

  it("names the commands that it is about", () => {
    const names = new Set(commandLines(page).map(([name]) => name));
    for (const name of named) expect(names, page).toContain(name);
  });
});

it("docs/migrate.md names the annotations as the code does", () => {
  const page = readFileSync("docs/migrate.md", "utf8");
  for (const annotation of [INTENT, REGISTRATIONS, FORMER_REPLICAS]) expect(page).toContain(`\`${annotation}\``);
});
