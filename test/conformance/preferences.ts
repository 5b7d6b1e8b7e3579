/**
 * Solves the scenarios of a folder whose pods have preferences under each PREFERENCE_POLICY: `node
 * test/conformance/preferences.ts [FOLDER] [--most 50]`. In: NNN.scenario.json. Out, for each policy: nodes, USD per
 * hour (each node counts NODE_CHARGE besides), and how far the ScheduleAnyway spreads over hosts and zones hold for the
 * planned pods. A NodeClaim that may start in several zones counts for the first of them.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Plan } from "../../core/model/plan.ts";
import type { Pod } from "../../core/model/pod.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { podKey } from "../../core/pods/predicates.ts";
import type { PreferencePolicy } from "../../core/scheduling/rules/preferences.ts";
import { softRulesOf } from "../../core/scheduling/rules/soft-rules.ts";
import { solve } from "../../core/scheduling/solve.ts";
import { weighPreferences } from "../../core/scheduling/weigh-preferences.ts";
import { NODE_CHARGE } from "../support/scheduling/claim-cost.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";

const HOST = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { most: { type: "string", default: "50" } } });
const [folder = "../shared/conformance/scheduling"] = positionals;
if (!existsSync(folder)) {
  console.error(`there is no folder ${folder}; give the one that holds NNN.scenario.json`);
  process.exit(2);
}
const hasPreferences = (text: string): boolean => /"ScheduleAnyway"|"preferredDuringScheduling/.test(text);
const snapshots = readdirSync(folder)
  .filter((name) => name.endsWith(".scenario.json") && hasPreferences(readFileSync(join(folder, name), "utf8")))
  .sort()
  .map((name) => scenarioToSnapshot(readScenario(join(folder, name))))
  .filter(({ pods }) => pods.some(({ spec }) => (spec.nodeName ?? "") === "" && softRulesOf(spec).length > 0))
  .slice(0, Number(values.most));

/** The domain of each planned pod. */
function domainsOf(plan: Plan, topologyKey: string): ReadonlyMap<string, string> {
  return new Map(
    plan.newNodeClaims.flatMap(({ pods, requirements }, index) => {
      const zone = requirements.find(({ key, operator }) => key === ZONE && operator === "In")?.values?.toSorted()[0] ?? "any";
      return pods.map((pod) => [pod, topologyKey === HOST ? `claim ${index}` : zone] as const);
    }),
  );
}

/** Of the ScheduleAnyway spreads over a key, how many keep their maxSkew among the domains that their pods use. */
function held(plan: Plan, { pods }: Snapshot, topologyKey: string): readonly [kept: number, all: number] {
  const domains = domainsOf(plan, topologyKey);
  const groups = new Map<string, { readonly maxSkew: number; readonly pods: Pod[] }>();
  for (const pod of pods) {
    for (const rule of pod.spec.topologySpreadConstraints ?? []) {
      if (rule.topologyKey !== topologyKey || rule.whenUnsatisfiable !== "ScheduleAnyway" || !domains.has(podKey(pod))) continue;
      const key = JSON.stringify([pod.metadata.namespace, rule]);
      groups.set(key, { maxSkew: rule.maxSkew, pods: [...(groups.get(key)?.pods ?? []), pod] });
    }
  }
  const kept = [...groups.values()].filter(({ maxSkew, pods: alike }) => {
    const counts = Object.values(Object.groupBy(alike, (pod) => domains.get(podKey(pod)) ?? "")).map((list) => list?.length ?? 0);
    const most = topologyKey === HOST ? 0 : Math.min(...counts, ...(counts.length < Math.min(3, alike.length) ? [0] : []));
    return Math.max(...counts) - most <= maxSkew;
  });
  return [kept.length, groups.size];
}

console.log(`${snapshots.length} scenarios\n`);
console.log("| policy | pods left | nodes | $ per hour | with the nodes' charge | spreads over hosts held | over zones held |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const preferencePolicy of ["Respect", "Weigh", "Ignore"] satisfies PreferencePolicy[]) {
  const sums = { left: 0, nodes: 0, price: 0, hosts: [0, 0], zones: [0, 0] };
  for (const snapshot of snapshots) {
    const plan = solve(weighPreferences(snapshot, { preferencePolicy }).snapshot, { preferencePolicy });
    sums.left += Object.keys(plan.podErrors).length;
    sums.nodes += plan.newNodeClaims.length;
    sums.price += plan.newNodeClaims.reduce((sum, { pricePerHour, surplusPerHour = 0 }) => sum + pricePerHour + surplusPerHour, 0);
    for (const [name, key] of [
      ["hosts", HOST],
      ["zones", ZONE],
    ] as const) {
      const [kept, all] = held(plan, snapshot, key);
      sums[name] = [(sums[name][0] ?? 0) + kept, (sums[name][1] ?? 0) + all];
    }
  }
  const cells = [sums.left, sums.nodes, sums.price.toFixed(3), (sums.price + sums.nodes * NODE_CHARGE).toFixed(3)];
  console.log(`| ${[preferencePolicy, ...cells, sums.hosts.join(" of "), sums.zones.join(" of ")].join(" | ")} |`);
}
