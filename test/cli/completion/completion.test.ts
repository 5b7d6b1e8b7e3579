import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { type Completed, completionScript } from "#cli/completion/scripts.ts";
import { SHELLS } from "#cli/completion/shells.ts";

const COMMANDS: readonly Completed[] = [
  {
    name: "solve",
    summary: "Plans nodes: for 'pending' pods",
    positionals: { name: "FILE", description: "a file", isRequired: true, isList: true },
    options: {
      explain: { type: "flag", description: "prices [and] reasons" },
      setting: { type: "list", value: "NAME=VALUE", description: "it's a setting" },
    },
  },
  { name: "status", summary: "Says whether it works", options: { stack: { type: "text", value: "NAME", description: "the stack" } } },
  {
    name: "completion",
    summary: "Prints what a shell needs",
    positionals: { name: "SHELL", description: "a shell", isRequired: true, isList: false, words: SHELLS },
    options: {},
  },
];

/** What bash offers for the last of the words. */
function offered(...words: readonly string[]): readonly string[] {
  const script = completionScript("bash", "karpenter-serverless", COMMANDS);
  const asked = `COMP_WORDS=(karpenter-serverless ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
  const { stdout, stderr } = spawnSync(
    "bash",
    ["--norc", "-c", `${script}\n${asked}\n_karpenter_serverless\nprintf '%s\\n' "\${COMPREPLY[@]}"`],
    {
      encoding: "utf8",
    },
  );
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

it.for<{ words: string[]; want: string[] }>([
  { words: [""], want: ["solve", "status", "completion", "--help", "--version"] },
  { words: ["s"], want: ["solve", "status"] },
  { words: ["st"], want: ["status"] },
  { words: ["solve", "--"], want: ["--explain", "--setting", "--help"] },
  { words: ["completion", ""], want: ["bash", "zsh", "fish"] },
  { words: ["completion", "z"], want: ["zsh"] },
  { words: ["solve", "a.json", "--e"], want: ["--explain"] },
  // Files, which bash adds itself where the function offers nothing.
  { words: ["solve", "a"], want: [] },
  { words: ["nothing", "--"], want: [] },
])("bash offers $want after $words", ({ words, want }) => {
  expect(offered(...words)).toEqual(want);
});

it.for(SHELLS)("the completion of %s knows each command and each option", (shell) => {
  const script = completionScript(shell, "karpenter-serverless", COMMANDS);
  for (const { name, options } of COMMANDS) {
    expect(script).toContain(name);
    for (const option of Object.keys(options)) expect(script).toMatch(new RegExp(`(--|-l )${option}`));
  }
});

it("quotes, brackets and colons of a description do not end a word of the script", () => {
  const [zsh, fish] = [completionScript("zsh", "p", COMMANDS), completionScript("fish", "p", COMMANDS)];
  expect(zsh).toContain(`'solve:Plans nodes\\: for '\\''pending'\\'' pods'`);
  expect(zsh).toContain("'--explain[prices and reasons]'");
  expect(zsh).toContain(`'*--setting[it'\\''s a setting]:NAME=VALUE:_files'`);
  expect(zsh).toContain("'*:SHELL:(bash zsh fish)'");
  expect(fish).toContain("-f -a 'bash zsh fish'");
  expect(fish).toContain(`-l setting -r -d 'it\\'s a setting'`);
});
