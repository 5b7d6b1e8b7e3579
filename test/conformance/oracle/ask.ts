import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Trail } from "../clusters/trail.ts";

/** Builds the oracle (oracle/README.md) and returns its path; seconds once its modules have been built on this machine, else some minutes. */
export function buildOracle(): string {
  const binary = resolve(import.meta.dirname, "../../../.cache/oracle");
  mkdirSync(resolve(binary, ".."), { recursive: true });
  execFileSync("go", ["build", "-o", binary, "."], {
    cwd: import.meta.dirname,
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: "inherit",
  });
  return binary;
}

/** What Karpenter comes to on each scenario file, in their order, deciding for at most `limitSeconds` of CPU time on each. */
export function karpenterTrails(oracle: string, files: readonly string[], limitSeconds: number): readonly Trail[] {
  if (files.length === 0) return [];
  const lines = execFileSync(oracle, ["-converge", `${limitSeconds}s`, ...files], { encoding: "utf8", maxBuffer: 2 ** 30 });
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).plans[0]);
}
