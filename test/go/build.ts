import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { goEnvironment } from "#infra/data/go-environment.ts";

/** Builds a command of the Go module and returns its path; takes some minutes the first time, then seconds. */
export function buildCommand(name: "oracle" | "kube-filters" | "amounts"): string {
  const folder = resolve(import.meta.dirname, "../../.cache");
  const binary = join(folder, name);
  mkdirSync(folder, { recursive: true });
  execFileSync("go", ["build", "-o", binary, `./cmd/${name}`], {
    cwd: import.meta.dirname,
    env: { ...goEnvironment(), CGO_ENABLED: "0" },
    stdio: "inherit",
  });
  return binary;
}
