/**
 * One cluster in a process of its own, for a memory peak of its own: `node test/bench/consolidate-measure.ts SCENARIO TRAIL SECONDS` carries our
 * commands out until nothing more is decided, or deciding has taken so many seconds of CPU time, and writes what happened to the file TRAIL.
 */
import { writeFileSync } from "node:fs";
import { readScenario, scenarioToSnapshot } from "../../cli/scenario/scenario.ts";
import { ourTrail } from "../conformance/clusters/trail.ts";

const [scenario = "", trail = "", seconds = "600"] = process.argv.slice(2);
writeFileSync(trail, JSON.stringify(ourTrail(scenarioToSnapshot(readScenario(scenario)), Number(seconds) * 1000)));
