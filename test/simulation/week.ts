import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { parseDuration } from "#core/lib/duration.ts";
import { numberOption, wholeOption } from "../support/number-option.ts";
import type { Course, CourseOptions } from "./week/course.ts";
import { renderCourse } from "./week/table.ts";
import type { CourseMessage } from "./week/worker.ts";

const USAGE = `node test/simulation/week.ts [options]
  --seed S           of load, market and accidents (1)
  --days D           (7, beginning on a Thursday)
  --size X           times the cluster of 12 to 60 nodes (1)
  --horizon H,...    bounds of churn to compare: a saving must repay its disruption within H, "none" for no bound (none,24h,1h)
  --pod-cost USD     what moving one pod counts as in that (0.001)
  --faults           calls, messages and clocks go wrong, and functions are killed

Each course of the week is held to all laws of the simulation (npm run -s sim -- --laws) and must come to rest at its end.
pods moved: evictions that consolidation asked for. other moves: drift, spot notices, ends of nodes.
saved: what the same day, with the same load, market and accidents, costs when only empty nodes are removed (consolidationPolicy
WhenEmpty), less what it costs here. Machines by the second at the market's price; disks and traffic left out.`;

type Options = Pick<CourseOptions, "seed" | "days" | "size" | "faults" | "podMoveCost"> & { readonly horizons: readonly string[] };

/** The options of the command line; undefined for --help. */
function options(): Options | undefined {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      days: { type: "string", default: "7" },
      size: { type: "string", default: "1" },
      horizon: { type: "string", default: "none,24h,1h" },
      "pod-cost": { type: "string", default: "0.001" },
      faults: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const horizons = values.horizon.split(",");
  const odd = horizons.find((text) => text !== "none" && !((parseDuration(text) ?? 0) > 0));
  if (odd !== undefined) throw new Error(`--horizon takes durations above 0 such as 24h or 1h30m, or none, not "${odd}"`);
  return {
    seed: wholeOption("seed", values.seed, 0),
    days: wholeOption("days", values.days, 1),
    size: numberOption("size", values.size, 0.1),
    podMoveCost: numberOption("pod-cost", values["pod-cost"], 0),
    horizons,
    faults: values.faults,
  };
}

/** Plays a course in its own thread; prints each finished day to standard error. */
function inThread(course: CourseOptions): Promise<Course> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./week/worker.ts", import.meta.url), { workerData: course });
    let day = 0;
    worker.on("message", (published: CourseMessage) => {
      if ("course" in published) return resolve(published.course);
      const { moved, spent } = published.day;
      console.error(`… ${course.name}, day ${++day} of ${course.days}: ${moved} pods moved, $${spent.toFixed(2)}`);
    });
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`the thread of "${course.name}" ended with ${code} before its course did`)));
  });
}

async function main(): Promise<void> {
  const given = options();
  if (given === undefined) return console.log(USAGE);
  const { horizons, ...shared } = given;
  const began = performance.now();
  const off = inThread({ ...shared, name: "consolidation off (WhenEmpty)", policy: "WhenEmpty", horizon: "none" });
  const on = horizons.map((horizon) =>
    inThread({
      ...shared,
      name: horizon === "none" ? "consolidation without bound" : `consolidation, savings repay their disruption within ${horizon}`,
      policy: "WhenEmptyOrUnderutilized",
      horizon,
    }),
  );
  const [baseline, ...courses] = await Promise.all([off, ...on]);
  console.log(renderCourse(baseline, undefined).join("\n"));
  for (const course of courses) console.log(`\n${renderCourse(course, baseline).join("\n")}`);
  const violations = [baseline, ...courses].reduce((total, course) => total + course.violations.length, 0);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`\nseed ${given.seed}, ${given.days} days, ${1 + courses.length} courses in ${minutes} minutes: violations ${violations}`);
  process.exitCode = violations > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
