import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { solve } from "#core/scheduling/solve.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson, readScenario, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";

const FOLDER = `${import.meta.dirname}/../../scenarios/scheduling`;

it.for(readdirSync(FOLDER).filter((file) => file.endsWith(".in.json")))("%s", async (file) => {
  const scenario = readScenario(`${FOLDER}/${file}`) as Parameters<typeof brokenRules>[0];
  const { solveMillis: _, ...plan } = planToJson(solve(scenarioToSnapshot(scenario)), 0);
  expect(brokenRules(scenario, plan)).toEqual([]);
  await expect(`${JSON.stringify(plan, null, 1)}\n`).toMatchFileSnapshot(`${FOLDER}/${file.replace(".in.", ".plan.")}`);
});
