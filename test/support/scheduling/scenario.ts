/** Scenario files in tests: the same reading and writing as the CLI's. */
export { readScenario, scenarioToSnapshot } from "../../../cli/scenario/scenario.ts";
export { planToJson } from "../../../cli/solve/solve.ts";
