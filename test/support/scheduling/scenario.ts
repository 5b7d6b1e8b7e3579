/** Tests read and write scenario files with the CLI's own functions. */
export { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
export { planToJson } from "#cli/solve/solve.ts";
