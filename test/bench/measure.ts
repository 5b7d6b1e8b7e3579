/**
 * Measures one size in its own process, with its own cold start and memory peak: `node test/bench/measure.ts
 * FAMILY|FILE PODS RUNS` prints a JSON line.
 */
import { existsSync } from "node:fs";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { solve } from "#core/scheduling/solve.ts";
import { lowerBounds } from "./lower-bound.ts";
import { FAMILIES, FAMILIES_AND_SHAPES, settingOf, snapshotOf } from "./workloads.ts";

const [source = "diverse", size = "1000", runs = "5"] = process.argv.slice(2);

/** Makes new snapshots for which no cache has an entry except those of the instance types. */
function reader(): () => Snapshot {
  const family = FAMILIES_AND_SHAPES.find((name) => name === source);
  if (family !== undefined) {
    const setting = settingOf(family);
    return () => snapshotOf(setting, Number(size));
  }
  if (!existsSync(source)) throw new Error(`${source} is neither a file nor one of ${FAMILIES_AND_SHAPES.join(", ")}`);
  const scenario = readScenario(source) as object;
  const first = scenarioToSnapshot(scenario);
  return () => ({ ...scenarioToSnapshot(structuredClone({ ...scenario, instanceTypes: [] })), instanceTypes: first.instanceTypes });
}

const read = reader();
const walls: number[] = [];
const cpus: number[] = [];
let heapMib = 0;
let coldRssMib = 0;
let snapshot = read();
const pods = snapshot.pods.length;
let plan: Plan | undefined;
for (let run = 0; run < Number(runs) + 1; run++) {
  if (run > 0) snapshot = read();
  const cpu = process.cpuUsage();
  const start = performance.now();
  plan = solve(snapshot);
  walls.push(performance.now() - start);
  const used = process.cpuUsage(cpu);
  cpus.push((used.user + used.system) / 1000);
  if (run === 0) coldRssMib = process.resourceUsage().maxRSS / 1024;
  heapMib = Math.max(heapMib, process.memoryUsage().heapUsed / 2 ** 20);
}
const [cold = 0, ...warm] = walls;
const sorted = [...warm].sort((a, b) => a - b);
const peakRssMib = process.resourceUsage().maxRSS / 1024;
if (plan === undefined) throw new Error("no run was asked for");
const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
// The linear program of pods that are all different is as large as all of them together.
const isShape = FAMILIES_AND_SHAPES.some((name) => name === source) && !FAMILIES.some((name) => name === source);
const bounds = pods <= 10_000 && !isShape ? await lowerBounds(snapshot) : undefined;
const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
console.log(
  JSON.stringify({
    source: source.split("/").at(-1)?.replace(".scenario.json.gz", ""),
    pods,
    types: Math.max(0, ...[...snapshot.instanceTypes.values()].map((types) => types.length)),
    coldMs: round(cold),
    bestMs: round(sorted[0] ?? cold),
    medianMs: round(sorted[Math.floor(sorted.length / 2)] ?? cold),
    coldCpuMs: round(cpus[0] ?? 0),
    bestCpuMs: round(Math.min(...cpus)),
    podsPerSecond: Math.round(pods / ((sorted[0] ?? cold) / 1000)),
    claims: plan.newNodeClaims.length,
    left: Object.keys(plan.podErrors).length,
    pricePerHour: round(price, 3),
    ...(bounds === undefined
      ? {}
      : {
          plainBoundPerHour: round(bounds.plain, 3),
          plainGapPercent: round(100 * (price / bounds.plain - 1)),
          spreadBoundPerHour: round(bounds.spread, 3),
          spreadGapPercent: round(100 * (price / bounds.spread - 1)),
        }),
    heapMib: round(heapMib),
    coldRssMib: round(coldRssMib),
    peakRssMib: round(peakRssMib),
  }),
);
