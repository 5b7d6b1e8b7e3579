/**
 * The search against the exact optimum: `npm run bench -- optimum [--count 200] [--from SEED] [--show SEED]`. Draws
 * small provisioning cases by seed (optimum-cases.ts), solves each exactly as an integer program (exact-cover.ts), and
 * prints how far our plans are above it. Both are valued by planCost of core/scheduling/search.ts. Exits 1 when a plan
 * costs less than its optimum, which would be a mistake of the integer program, or leaves a pod.
 */
import { parseArgs } from "node:util";
import { bestAttempt, planCost } from "#core/scheduling/search.ts";
import { type ExactCover, exactCover } from "./exact-cover.ts";
import { lowerBounds, problemOf } from "./lower-bound.ts";
import { optimumCase } from "./optimum-cases.ts";

/** Costs closer than this are equal, as a share: they are sums of floats, and the solver has tolerances. */
const TOLERANCE = 1e-6;
const WORST_SHOWN = 5;

interface Outcome {
  readonly seed: number;
  readonly pods: number;
  readonly shapes: number;
  readonly types: number;
  readonly left: number;
  /** USD per hour. */
  readonly cost: number;
  readonly exact: ExactCover;
  /** Pods and nodes are divisible, USD per hour. */
  readonly fluidBound: number;
  /** How much our plan is above the optimum, percent. */
  readonly gap: number;
}

const { values } = parseArgs({
  options: { count: { type: "string", default: "200" }, from: { type: "string", default: "1" }, show: { type: "string" } },
});
const [count, from, show] = [values.count, values.from, values.show ?? "0"].map(Number) as [number, number, number];
if (![count, from, show + 1].every((n) => Number.isInteger(n) && n >= 1)) {
  console.error("--count, --from and --show take whole numbers from 1 on, as in: --count 200 --from 1");
  process.exit(2);
}

async function outcomeOf(seed: number): Promise<Outcome> {
  const snapshot = optimumCase(seed);
  const problem = problemOf(snapshot);
  const attempt = bestAttempt(problem, "full");
  const cost = planCost(attempt);
  const exact = await exactCover(problem, cost);
  const { spread } = await lowerBounds(snapshot, ({ price, nodeCost }) => price + nodeCost);
  if (seed === show) {
    for (const { pods, cheapest, template, used } of attempt.claims)
      console.log(`ours: ${template.table.types[cheapest]?.name}  ${pods.length} pods  ${used.join()}`);
    for (const node of exact.nodes)
      console.log(`optimum: ${node.count} × ${node.type}  ${JSON.stringify(node.pods)}  $${node.cost.toFixed(4)}`);
  }
  return {
    seed,
    pods: snapshot.pods.length,
    shapes: problem.classes.length,
    types: Math.max(...[...snapshot.instanceTypes.values()].map(({ length }) => length)),
    left: attempt.failed.size,
    cost,
    exact,
    fluidBound: spread,
    gap: 100 * (cost / exact.cost - 1),
  };
}

const outcomes: Outcome[] = [];
for (let seed = show || from; seed < (show ? show + 1 : from + count); seed++) outcomes.push(await outcomeOf(seed));

const proven = outcomes.filter(({ exact }) => exact.isProven);
const gaps = proven.map(({ gap }) => gap).sort((a, b) => a - b);
const at = (share: number): number => Math.max(0, gaps[Math.min(gaps.length - 1, Math.floor(share * gaps.length))] ?? 0);
const mean = (of: (outcome: Outcome) => number): number => proven.reduce((sum, outcome) => sum + of(outcome), 0) / proven.length;
const percent = (value: number): string => `${Math.max(0, value).toFixed(2)} %`;
console.log(`${outcomes.length} cases, ${outcomes.length - proven.length} without a proven optimum`);
console.log(
  `above the optimum: min ${percent(at(0))}, median ${percent(at(0.5))}, p90 ${percent(at(0.9))}, max ${percent(at(1))}, mean ${percent(mean(({ gap }) => gap))}`,
);
const optimal = gaps.filter((gap) => gap <= 100 * TOLERANCE).length;
console.log(`exactly optimal: ${optimal} of ${proven.length} (${((100 * optimal) / proven.length).toFixed(0)} %)`);
console.log(
  `mean distance of the optimum: ${percent(mean(({ exact, fluidBound }) => 100 * (exact.cost / fluidBound - 1)))} above the linear program of divisible pods and nodes, ` +
    `${percent(mean(({ exact }) => 100 * (exact.cost / exact.configurationBound - 1)))} above that of whole pods on divisible nodes`,
);
console.log("worst:   seed  pods  shapes  types      ours   optimum    above");
for (const { seed, pods, shapes, types, cost, exact, gap } of proven.toSorted((a, b) => b.gap - a.gap).slice(0, WORST_SHOWN)) {
  const cells: readonly (readonly [string | number, number])[] = [
    [seed, 13],
    [pods, 6],
    [shapes, 8],
    [types, 7],
    [cost.toFixed(4), 10],
    [exact.cost.toFixed(4), 10],
    [percent(gap), 9],
  ];
  console.log(cells.map(([text, width]) => String(text).padStart(width)).join(""));
}
for (const { seed, left } of outcomes.filter((outcome) => outcome.left > 0)) {
  console.error(`seed ${seed}: ${left} classes of pods are left, although every pod fits some type`);
  process.exitCode = 1;
}
for (const { seed, gap } of proven.filter((outcome) => outcome.gap < -100 * TOLERANCE)) {
  console.error(`seed ${seed}: the plan costs ${(-gap).toFixed(4)} % less than the optimum, so the integer program is wrong`);
  process.exitCode = 1;
}
