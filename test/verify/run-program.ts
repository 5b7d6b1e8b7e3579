import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { WIDTH } from "#terminal/columns.ts";
import { choose, help } from "./choose.ts";
import type { Group } from "./program.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Starts the program that this process's arguments name, with this terminal, and ends with its exit code. */
export function runProgram(command: string, groups: readonly Group[], fallback?: string): void {
  const choice = choose(groups, process.argv.slice(2), fallback);
  if (choice.kind === "help") console.log(help(command, groups, WIDTH));
  else if (choice.kind === "wrong") {
    console.error(choice.message);
    process.exitCode = 2;
  } else {
    const { status } = spawnSync(process.execPath, [join(ROOT, choice.program.file), ...choice.args], { cwd: ROOT, stdio: "inherit" });
    process.exitCode = status ?? 1;
  }
}
