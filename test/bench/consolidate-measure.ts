/**
 * Measures one cluster in a process of its own, so that its memory peak is its own: `node
 * test/bench/consolidate-measure.ts SCENARIO TRAIL SECONDS` carries our commands out until no command follows, or until
 * decisions have used SECONDS of CPU time, and writes the trail to the file TRAIL.
 */
import { writeFileSync } from "node:fs";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { ourTrail } from "../conformance/clusters/trail.ts";

const [scenario = "", trail = "", seconds = "600"] = process.argv.slice(2);
writeFileSync(trail, JSON.stringify(ourTrail(scenarioToSnapshot(readScenario(scenario)), Number(seconds) * 1000)));
