/**
 * Solves every scenario of a folder and has the plans checked by two judges: kube-scheduler's own filters
 * (test/go/cmd/kube-filters) and the judge in test/support/scheduling. `node test/conformance/kube-judge.ts FOLDER
 * [NNN…]`. Prints their objections and a line of counts; exits 1 when there are objections.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { planToJson } from "#cli/solve/solve.ts";
import { solve } from "#core/scheduling/solve.ts";
import { buildCommand } from "../go/build.ts";
import { programOptions } from "../support/program-options.ts";
import { brokenRules } from "../support/scheduling/check-plan.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface FilterAnswers {
  readonly file: string;
  readonly violations: readonly {
    readonly launch: string;
    readonly pod: string;
    readonly node: string;
    readonly type?: string;
    readonly reason: string;
  }[];
  readonly error?: string;
}

/** Maximum number of objections printed for each scenario and judge. */
const SHOWN = 3;

const { positionals } = programOptions("usage: npm run -s verify -- kube-judge FOLDER [NNN...]", { allowPositionals: true });
const [folder, ...chosen] = positionals;
if (folder === undefined || !existsSync(folder)) {
  console.error(
    `there is no folder ${folder ?? "given"}; give one that holds NNN.scenario.json (test/conformance/generate.ts writes some)`,
  );
  process.exit(2);
}
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".scenario.json") && (chosen.length === 0 || chosen.some((prefix) => file.startsWith(prefix))))
  .map((file) => file.replace(/\.scenario\.json$/, ""))
  .sort();
if (names.length === 0) {
  console.error(`there is no ${chosen.length === 0 ? "NNN" : chosen.join(" or ")}.scenario.json in ${folder}`);
  process.exit(2);
}
const plans = temporaryFolder("plans");
try {
  const own = new Map<string, readonly string[]>();
  let placed = 0;
  let left = 0;
  for (const name of names) {
    const scenario = readScenario(join(folder, `${name}.scenario.json`));
    const plan = planToJson(solve(scenarioToSnapshot(scenario)), 0) as Parameters<typeof brokenRules>[1];
    writeFileSync(join(plans, `${name}.plan.json`), JSON.stringify(plan));
    own.set(name, brokenRules(scenario, plan));
    placed += [...plan.newNodeClaims, ...plan.existingNodes].reduce((sum: number, place) => sum + place.pods.length, 0);
    left += Object.keys(plan.podErrors).length;
  }
  const lines = execFileSync(buildCommand("kube-filters"), [resolve(folder), plans], { encoding: "utf8", maxBuffer: 2 ** 30 });
  const verdicts = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FilterAnswers);
  const refused = verdicts.filter(({ violations, error }) => violations.length > 0 || error !== undefined);
  for (const { file, violations, error } of refused) {
    const pods = new Set(violations.map(({ pod }) => pod));
    console.log(`${file}: kube-scheduler would refuse ${pods.size} pods${error === undefined ? "" : ` (${error})`}`);
    for (const { launch, pod, node, type, reason } of violations.slice(0, SHOWN))
      console.log(`      ${pod} on ${node}${type === undefined ? "" : ` as ${type}`} (launched ${launch}): ${reason}`);
  }
  const broken = [...own].filter(([, rules]) => rules.length > 0);
  for (const [name, rules] of broken) {
    console.log(`${name}: ${rules.length} rules broken by our own judge`);
    for (const rule of rules.slice(0, SHOWN)) console.log(`      ${rule}`);
  }
  console.log(
    `${names.length} scenarios, ${placed} pods placed and ${left} explained: ${refused.length} with a pod that kube-scheduler would refuse, ` +
      `${broken.length} with a rule broken`,
  );
  if (verdicts.length !== names.length) throw new Error(`kube-filters judged ${verdicts.length} of ${names.length} plans`);
  process.exitCode = refused.length + broken.length > 0 ? 1 : 0;
} finally {
  rmSync(plans, { recursive: true });
}
