import { execFileSync } from "node:child_process";
import type { Trail } from "./trail.ts";

/**
 * Karpenter's trail on each scenario file, in their order, with at most `limitSeconds` of CPU time for the decisions on
 * each.
 */
export function karpenterTrails(oracle: string, files: readonly string[], limitSeconds: number): readonly Trail[] {
  if (files.length === 0) return [];
  const lines = execFileSync(oracle, ["-converge", `${limitSeconds}s`, ...files], { encoding: "utf8", maxBuffer: 2 ** 30 });
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).plans[0]);
}
