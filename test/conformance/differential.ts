/**
 * Solves the scenarios of a folder and compares the plans with Karpenter's own (test/go/cmd/oracle): `node
 * test/conformance/differential.ts FOLDER [NNN…] [--runs N] [--keep FOLDER]`. Karpenter's answers are kept as
 * FOLDER/NNN.answers.json and read by the next run. Exits 1 when we break a rule, leave a pod or pay more. --keep
 * writes scenarios with their answers as generated.test.ts reads them.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { solve } from "#core/scheduling/solve.ts";
import { buildCommand } from "../go/build.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { compareWithKarpenter, type KarpenterComparison } from "./verdict.ts";

const USAGE = "usage: node test/conformance/differential.ts FOLDER [NNN…] [--runs N] [--keep FOLDER]";
/** Scenarios of one oracle process: an interrupted run keeps the finished batches. */
const BATCH = 50;

const answersFile = (file: string): string => file.replace(/\.scenario\.json(\.gz)?$/, ".answers.json");

/** Runs the oracle on the scenarios that have no answers yet. */
function askOracle(runs: string, files: readonly string[]): void {
  const unknown = files.filter((file) => !existsSync(answersFile(file)));
  if (unknown.length === 0) return;
  const oracle = buildCommand("oracle");
  for (let i = 0; i < unknown.length; i += BATCH) {
    const lines = execFileSync(oracle, ["-runs", runs, ...unknown.slice(i, i + BATCH)], { encoding: "utf8", maxBuffer: 2 ** 30 });
    for (const line of lines.trimEnd().split("\n")) {
      const { file, plans } = JSON.parse(line);
      writeFileSync(answersFile(file), `${JSON.stringify(plans)}\n`);
    }
  }
}

/** Writes one file with a scenario and Karpenter's answers, reduced to what the comparison reads. */
function keepCase(folder: string, scenario: RawJson, answers: readonly RawJson[]): void {
  const cut = answers.map(({ newNodeClaims, existingNodes, podErrors }) => ({
    newNodeClaims: newNodeClaims.map(({ requests: _, taints: __, ...claim }: RawJson) => claim),
    existingNodes,
    podErrors: Object.fromEntries(Object.keys(podErrors).map((pod) => [pod, "left"])),
  }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${scenario.name}.json.gz`), gzipSync(JSON.stringify({ scenario, answers: cut }), { level: 9 }));
}

function marksOf({ broken, left, leftSometimes, isDearer, more, lighter }: KarpenterComparison): string {
  return [
    broken.length > 0 ? "BROKEN" : "",
    left.length > 0 ? `LEFT ${left.length}` : "",
    leftSometimes.length > 0 ? `left in some runs ${leftSometimes.length}` : "",
    isDearer ? "DEARER" : "",
    lighter.length > 0 ? `LIGHTER ${lighter.length}` : "",
    more.length > 0 ? `+${more.length}` : "",
  ]
    .filter((mark) => mark !== "")
    .join(" ");
}

function main(folder: string, chosen: readonly string[], runs: string, keep: string | undefined): boolean {
  const files = readdirSync(folder)
    .filter((name) => /\.scenario\.json(\.gz)?$/.test(name) && (chosen.length === 0 || chosen.some((prefix) => name.startsWith(prefix))))
    .sort()
    .map((name) => join(folder, name));
  askOracle(runs, files);
  const totals = { broken: 0, left: 0, leftSometimes: 0, more: 0, lighter: 0, dearer: 0, comparable: 0, ours: 0, theirs: 0 };
  for (const file of files) {
    const scenario = readScenario(file);
    const answers = JSON.parse(readFileSync(answersFile(file), "utf8"));
    if (keep !== undefined) keepCase(keep, scenario, answers);
    const plan = solve(scenarioToSnapshot(scenario));
    const result = compareWithKarpenter(scenario, plan, answers);
    totals.broken += result.broken.length > 0 ? 1 : 0;
    totals.left += result.left.length;
    totals.leftSometimes += result.leftSometimes.length;
    totals.more += result.more.length;
    totals.dearer += result.isDearer ? 1 : 0;
    totals.lighter += result.lighter.length;
    if (result.best !== undefined) {
      totals.comparable++;
      totals.ours += result.price;
      totals.theirs += result.best.price;
    }
    const marks = marksOf(result);
    if (marks === "" && chosen.length === 0) continue;
    const name = (scenario as { readonly name?: string }).name ?? "";
    console.log(
      `${basename(file).split(".")[0]} ${name} ${marks}: ${result.price.toFixed(4)} / ${result.best?.price.toFixed(4) ?? "-"} $/h, cost ${result.cost.toFixed(4)} / ${result.best?.cost.toFixed(4) ?? "-"}`,
    );
    for (const rule of [...result.broken, ...result.lighter].slice(0, 3)) console.log(`      ${rule}`);
    for (const pod of [...result.left, ...result.leftSometimes].slice(0, 2))
      console.log(`      left: ${pod}: ${plan.podErrors[pod] ?? "(no error)"}`);
  }
  const { ours, theirs } = totals;
  console.log(
    `${files.length} scenarios: ${totals.broken} break a rule, ${totals.left} pods left that Karpenter always places (${totals.leftSometimes} that it sometimes does), ` +
      `${totals.more} placed that it leaves, ${totals.lighter} in a lighter pool than one that could take them; of ${totals.comparable} comparable, ${totals.dearer} dearer; ${ours.toFixed(3)} / ${theirs.toFixed(3)} $/h (${(100 * (ours / theirs - 1)).toFixed(2)} %)`,
  );
  return totals.broken + totals.left + totals.lighter + totals.dearer === 0;
}

try {
  const { values, positionals } = parseArgs({ options: { runs: { type: "string" }, keep: { type: "string" } }, allowPositionals: true });
  const [folder, ...chosen] = positionals;
  if (folder === undefined || !existsSync(folder)) throw new TypeError("name a folder that holds NNN.scenario.json");
  process.exitCode = main(folder, chosen, values.runs ?? "3", values.keep) ? 0 : 1;
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}; ${USAGE}`);
  process.exitCode = 2;
}
