/**
 * What soft rules cost, and how far they hold afterwards: `node test/conformance/preferences.ts [FOLDER] [--generated
 * 53]`. In: the scenarios of FOLDER (NNN.scenario.json) whose pending pods have soft rules, and generated ones
 * (soft-rules/scenarios.ts). Each is planned under each PREFERENCE_POLICY. Out, for each policy: pods left, nodes, USD
 * per hour, and of the soft rules of the planned pods how many hold, twice: where the lab's kube-scheduler puts the
 * pods on the planned nodes by its own scores, and where the plan wants them.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PreferencePolicy } from "#core/scheduling/rules/preferences.ts";
import { softRulesOf } from "#core/scheduling/rules/soft-rules.ts";
import { solve } from "#core/scheduling/solve.ts";
import { weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import { programOptions } from "../support/program-options.ts";
import { claimCost } from "../support/scheduling/claim-cost.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { type Held, SOFT_RULES, type SoftRule, softRulesHeld } from "./soft-rules/held.ts";
import { asPlanned, asScheduled } from "./soft-rules/play-plan.ts";
import { softScenario } from "./soft-rules/scenarios.ts";

const { values, positionals } = programOptions("usage: npm run -s bench -- preferences -- [FOLDER] [--generated N]", {
  allowPositionals: true,
  options: { generated: { type: "string", default: "53" } },
});
const [folder = "../shared/conformance/scheduling"] = positionals;
if (positionals.length > 0 && !existsSync(folder)) {
  console.error(`there is no folder ${folder}; give the one that holds NNN.scenario.json`);
  process.exit(2);
}

/** Whether pending pods prefer something, or pods would rather not be on the nodes of some pool. */
function hasSoftRules(scenario: RawJson): boolean {
  return scenarioToSnapshot(scenario).pods.some(({ spec }) => (spec.nodeName ?? "") === "" && softRulesOf(spec).length > 0);
}

const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".scenario.json")) : [];
const given: readonly RawJson[] = files
  .sort()
  .map((name) => readScenario(join(folder, name)))
  .filter(hasSoftRules);
const generated = Array.from({ length: Number(values.generated) }, (_, i) => softScenario(i));

interface Sums {
  left: number;
  nodes: number;
  instances: number;
  cost: number;
  unbound: number;
  readonly scheduled: Map<SoftRule, readonly [number, number]>;
  readonly planned: Map<SoftRule, readonly [number, number]>;
}

function add(sums: Sums["scheduled"], held: Held): void {
  for (const [rule, [kept, all]] of held) {
    const [before, beforeAll] = sums.get(rule) ?? [0, 0];
    sums.set(rule, [before + kept, beforeAll + all]);
  }
}

async function sumsOf(scenarios: readonly RawJson[], preferencePolicy: PreferencePolicy): Promise<Sums> {
  const sums: Sums = { left: 0, nodes: 0, instances: 0, cost: 0, unbound: 0, scheduled: new Map(), planned: new Map() };
  for (const scenario of scenarios) {
    const plan = solve(weighPreferences(scenarioToSnapshot(scenario), { preferencePolicy }).snapshot, { preferencePolicy });
    sums.left += Object.keys(plan.podErrors).length;
    sums.nodes += plan.newNodeClaims.length;
    sums.instances += plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    sums.cost += plan.newNodeClaims.reduce((sum, claim) => sum + claimCost(scenario, claim), 0);
    const planned = new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }) => pods));
    const played = await asScheduled(scenario, plan);
    sums.unbound += played.unplaced.length;
    add(sums.scheduled, softRulesHeld(scenario, planned, played));
    add(sums.planned, softRulesHeld(scenario, planned, asPlanned(scenario, plan)));
  }
  return sums;
}

const share = (held: Held, rule: SoftRule): string => (held.get(rule) ?? [0, 0]).join(" of ");
for (const [name, scenarios] of [
  [`${given.length} scenarios of ${folder}`, given],
  [`${generated.length} generated scenarios`, generated],
] as const) {
  if (scenarios.length === 0) continue;
  console.log(`${name}\n`);
  console.log(`| policy | pods left | nodes | $ per hour | with the nodes' charge | not bound | held | ${SOFT_RULES.join(" | ")} |`);
  console.log(`| --- | --- | --- | --- | --- | --- | --- |${" --- |".repeat(SOFT_RULES.length)}`);
  for (const policy of ["Respect", "Weigh", "Ignore"] satisfies PreferencePolicy[]) {
    const { left, nodes, instances, cost, unbound, scheduled, planned } = await sumsOf(scenarios, policy);
    const cells = [policy, left, nodes, instances.toFixed(3), cost.toFixed(3), unbound, "by scores"];
    console.log(`| ${[...cells, ...SOFT_RULES.map((rule) => share(scheduled, rule))].join(" | ")} |`);
    console.log(`| | | | | | | as planned | ${SOFT_RULES.map((rule) => share(planned, rule)).join(" | ")} |`);
  }
  console.log("");
}
