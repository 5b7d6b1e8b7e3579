/** Scenario files in tests: the same reading and writing as the CLI's. */
export { readScenario, scenarioToSnapshot } from "../../../functions/cli/scenario.ts";
export { planToJson } from "../../../functions/cli/solve.ts";
