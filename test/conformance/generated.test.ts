import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { solve } from "../../core/scheduling/solve.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { compareWithKarpenter } from "./verdict.ts";

/*
 * Generated scenarios beside what Karpenter v1.14.1 itself answered, three runs each, as `differential.ts --keep` writes them. Kept are those
 * that told us something once (reduced-… are what was left of one when all else had been taken away), and two of each kind of mix.
 */
const FOLDER = join(import.meta.dirname, "generated");

describe.for(readdirSync(FOLDER).filter((file) => file.endsWith(".json.gz")))("%s", (file) => {
  const { scenario, answers } = readScenario(join(FOLDER, file)) as { readonly scenario: RawJson; readonly answers: readonly RawJson[] };
  const result = compareWithKarpenter(scenario, solve(scenarioToSnapshot(scenario)), answers);

  it("breaks no rule", () => expect(result.broken).toEqual([]));
  it("leaves no pod that Karpenter always places lawfully", () => expect(result.left).toEqual([]));
  it("costs no more than Karpenter's best run that places the same pods", () => {
    expect(result.price).toBeLessThanOrEqual((result.best ?? Number.POSITIVE_INFINITY) + 1e-6);
  });
});
