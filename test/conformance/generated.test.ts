import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { solve } from "#core/scheduling/solve.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { compareWithKarpenter } from "./verdict.ts";

/*
 * Generated scenarios with the answers of Karpenter v1.14.1 itself, three runs each, written by `differential.ts
 * --keep`. Kept are scenarios that once showed a fault (reduced-… are such scenarios without everything that did not
 * matter), and two of each kind.
 */
const FOLDER = join(import.meta.dirname, "generated");

describe.for(readdirSync(FOLDER).filter((file) => file.endsWith(".json.gz")))("%s", (file) => {
  const { scenario, answers } = readScenario(join(FOLDER, file)) as { readonly scenario: RawJson; readonly answers: readonly RawJson[] };
  const result = compareWithKarpenter(scenario, solve(scenarioToSnapshot(scenario)), answers);

  it("the plan breaks no rule", () => expect(result.broken).toEqual([]));
  it("the plan puts no pod into a lighter NodePool than one that could take it", () => expect(result.lighter).toEqual([]));
  it("the plan places every pod that Karpenter places in every run without breaking a rule", () => expect(result.left).toEqual([]));
  it("the plan costs no more than Karpenter's best run that places the same pods, when a node counts the same for both", () => {
    expect(result.cost).toBeLessThanOrEqual((result.best?.cost ?? Number.POSITIVE_INFINITY) + 1e-6);
  });
});
