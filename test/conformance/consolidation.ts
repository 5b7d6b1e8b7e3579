/**
 * Compares disruption decisions with Karpenter's, scenario by scenario: the whole pass, and each method alone. `node
 * test/conformance/consolidation.ts FOLDER` with NNN.scenario.json beside NNN.karpenter.json. Exits 1 when a rule is
 * broken. With `--converge` each scenario is also repeated until no command follows: passes, $/h before and after, pods
 * moved.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { consolidateSnapshot, type PlannedCommand } from "#cli/consolidate/consolidate.ts";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import type { ConsolidationContext } from "#core/disruption/consolidation/consolidation.ts";
import type { Decision, Method } from "#core/disruption/consolidation/decision.ts";
import { reasonOf } from "#core/disruption/consolidation/decision.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { drift } from "#core/disruption/methods/drift.ts";
import { emptiness } from "#core/disruption/methods/emptiness.ts";
import { findUnhealthy, repair } from "#core/disruption/methods/repair.ts";
import { singleNode } from "#core/disruption/methods/single-node.ts";
import { sleep } from "#core/disruption/methods/sleep.ts";
import { multiNode } from "#core/disruption/node-sets/multi-node.ts";
import { savingsOf } from "#core/disruption/prices/savings.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { replay } from "./clusters/replay.ts";
import { ourTrail } from "./clusters/trail.ts";
import { brokenPlacement } from "./disruption-placement.ts";
import { brokenRules } from "./disruption-rules.ts";

const METHODS: readonly Method[] = ["emptiness", "drift", "multi", "single"];

interface Answer {
  readonly commands: readonly PlannedCommand[];
  readonly methods?: Readonly<Record<string, { readonly commands: readonly PlannedCommand[] }>>;
}

/** The decision of one method alone. */
function runMethod(method: Method, snapshot: Snapshot): PlannedCommand | undefined {
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  const context: ConsolidationContext = { view, settings: { cluster: "scenario" }, simulate: simulateWithSolve };
  const candidates = findCandidates(view).all;
  const budgets = poolBudgets(view, reasonOf(method));
  const unhealthy = findUnhealthy(view);
  const decide: Readonly<Record<Method, () => Decision>> = {
    emptiness: () => emptiness(candidates, budgets, snapshot.now),
    drift: () => drift(context, candidates, budgets),
    multi: () => multiNode(context, candidates, budgets),
    single: () => singleNode(context, candidates, budgets),
    sleep: () => sleep(candidates, budgets, snapshot.now),
    repair: () => repair(context, unhealthy, new Set(unhealthy.candidates), budgets, { commands: [], records: [] }),
  };
  const { found } = decide[method]();
  if (!found) return undefined;
  return {
    method,
    candidates: found.candidates.map(({ node }) => node),
    replacements: found.replacements,
    decision: found.replacements.length > 0 ? "replace" : "delete",
    savings: savingsOf(found.candidates, found.replacements),
  };
}

/** Whether two commands remove the same nodes; the order of candidates has no meaning. */
function sameNodes(a: PlannedCommand | undefined, b: PlannedCommand | undefined): boolean {
  return [...(a?.candidates ?? [])].sort().join() === [...(b?.candidates ?? [])].sort().join();
}

function short(command: PlannedCommand | undefined): string {
  if (!command) return "nothing";
  return `${command.method} ${command.decision} [${command.candidates.join(" ")}] $${command.savings.toFixed(4)}`;
}

function judge(ours: PlannedCommand | undefined, theirs: PlannedCommand | undefined): "same" | "more" | "less" | "equal savings" {
  const difference = (ours?.savings ?? 0) - (theirs?.savings ?? 0);
  if (sameNodes(ours, theirs) && Math.abs(difference) < 1e-6) return "same";
  if (Math.abs(difference) < 1e-6) return "equal savings";
  return difference > 0 ? "more" : "less";
}

function main(folder: string, toTheEnd: boolean): number {
  const names = readdirSync(folder)
    .flatMap((file) => /^(.*)\.scenario\.json(\.gz)?$/.exec(file)?.[1] ?? [])
    .sort();
  const tally = new Map<string, number>();
  const savings = { ours: 0, theirs: 0 };
  const total = { before: 0, after: 0, moved: 0 };
  let broken = 0;
  for (const name of names) {
    const plain = join(folder, `${name}.scenario.json`);
    const raw = readScenario(existsSync(plain) ? plain : `${plain}.gz`);
    const snapshot = scenarioToSnapshot(raw);
    const answerPath = join(folder, `${name}.karpenter.json`);
    const answer: Answer = existsSync(answerPath) ? JSON.parse(readFileSync(answerPath, "utf8")) : { commands: [] };
    const rows: readonly (readonly [string, PlannedCommand | undefined, PlannedCommand | undefined])[] = [
      ["pass", consolidateSnapshot(snapshot).commands[0], answer.commands[0]],
      ...METHODS.map((method) => [method, runMethod(method, snapshot), answer.methods?.[method]?.commands[0]] as const),
    ];
    for (const [what, ours, theirs] of rows) {
      const verdict = judge(ours, theirs);
      const rules = ours ? [...brokenRules(snapshot, ours), ...brokenPlacement(raw, snapshot, ours)] : [];
      broken += rules.length;
      tally.set(`${what}: ${verdict}`, (tally.get(`${what}: ${verdict}`) ?? 0) + 1);
      if (what === "pass") {
        savings.ours += ours?.savings ?? 0;
        savings.theirs += theirs?.savings ?? 0;
      }
      if (what === "pass" || verdict !== "same" || rules.length > 0) {
        console.log(`${name} ${what.padEnd(9)} ${verdict.padEnd(13)} ours: ${short(ours)} | Karpenter: ${short(theirs)}`);
      }
      for (const rule of rules) console.log(`${name} ${what.padEnd(9)} BROKEN RULE   ${rule}`);
    }
    if (!toTheEnd) continue;
    const end = replay(raw, ourTrail(snapshot));
    const nodes = `${end.nodesBefore} -> ${end.nodesAfter} nodes`;
    console.log(
      `${name} converged after ${end.passes} passes: ${nodes}, $${end.before.toFixed(4)} -> $${end.after.toFixed(4)}/h, ${end.podsMoved} pods moved`,
    );
    total.before += end.before;
    total.after += end.after;
    total.moved += end.podsMoved;
    broken += end.broken.length;
    for (const rule of end.broken) console.log(`${name} converging BROKEN RULE ${rule}`);
  }
  if (toTheEnd) console.log(`\nall together: $${total.before.toFixed(4)} -> $${total.after.toFixed(4)}/h, ${total.moved} pods moved`);
  console.log(
    `\n${names.length} scenarios; savings of the first pass: ours $${savings.ours.toFixed(4)}/h, Karpenter $${savings.theirs.toFixed(4)}/h`,
  );
  for (const [key, count] of [...tally].sort()) console.log(`${key}: ${count}`);
  console.log(`rules broken: ${broken}`);
  return broken > 0 ? 1 : 0;
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error("name the folder of the scenarios: node test/conformance/consolidation.ts FOLDER");
  process.exitCode = 2;
} else {
  process.exitCode = main(folder, process.argv.includes("--converge"));
}
