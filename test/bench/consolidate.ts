/**
 * Compares our disruption with Karpenter's on underutilized clusters, each repeated until no command follows:
 *
 * `node test/bench/consolidate.ts [FILE…] [--kinds quarter-full,…] [--sizes 100,1000,5000] [--seeds N] [--oracle]
 * [--limit SECONDS]`. Without FILE: the given clusters of those sizes and generated ones of each kind. --oracle runs
 * Karpenter v1.15.0 itself (needs Go) and keeps its trails in .cache/clusters. --limit bounds the CPU time for
 * decisions on one cluster, for ours and for Karpenter's. Exits 1 when we break a rule or end more expensive.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readScenario } from "#cli/scenario/scenario.ts";
import { karpenterTrails } from "../conformance/clusters/karpenter-trails.ts";
import { type Account, replay } from "../conformance/clusters/replay.ts";
import type { Trail } from "../conformance/clusters/trail.ts";
import { buildCommand } from "../go/build.ts";
import { CLUSTER_FOLDER, clusterFile, clusterName, givenClusters, KIND_NAMES } from "./consolidate-clusters.ts";
import { type FreshPlan, freshPlan } from "./fresh-plan.ts";

/** Prices closer than this are equal (USD per hour), because they are sums of floats. */
const PRICE_TOLERANCE = 1e-6;

const USAGE = `usage: node test/bench/consolidate.ts [FILE…] [--kinds ${KIND_NAMES.join(",")}] [--sizes 100,1000,5000] [--seeds N] [--oracle] [--limit SECONDS]`;

function refuse(problem: string): never {
  console.error(`${problem}; ${USAGE}`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        kinds: { type: "string", default: KIND_NAMES.join() },
        sizes: { type: "string", default: "100,1000" },
        seeds: { type: "string", default: "1" },
        limit: { type: "string", default: "600" },
        oracle: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const { values, positionals } = options();
const sizes = values.sizes.split(",").map(Number);
const [seeds, limit] = [Number(values.seeds), Number(values.limit)];
for (const number of [...sizes, seeds, limit]) {
  if (!Number.isInteger(number) || number < 1) refuse("--sizes, --seeds and --limit take whole numbers from 1 on");
}
const kinds = values.kinds.split(",").map((name) => KIND_NAMES.find((kind) => kind === name) ?? refuse(`there is no kind ${name}`));
for (const file of positionals) if (!existsSync(file)) refuse(`there is no file ${file}`);

const files =
  positionals.length > 0
    ? positionals
    : [
        ...givenClusters(sizes),
        ...sizes.flatMap((nodes) =>
          kinds.flatMap((kind) => Array.from({ length: seeds }, (_, i) => clusterFile({ kind, nodes, seed: i + 1 }))),
        ),
      ];

/** Our trail, measured in a new process. */
function measureOurs(file: string): Trail {
  mkdirSync(CLUSTER_FOLDER, { recursive: true });
  const path = join(CLUSTER_FOLDER, `${clusterName(file)}.ours.json`);
  const script = join(import.meta.dirname, "consolidate-measure.ts");
  const { status, stderr } = spawnSync(process.execPath, [script, file, path, String(limit)], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${/^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? "the measurement ended early"}`);
  return JSON.parse(readFileSync(path, "utf8"));
}

let oracle: string | undefined;

/** Karpenter's trail, from the file of an earlier run with the same limit, or from a new run. */
function askKarpenter(file: string): Trail {
  const path = join(CLUSTER_FOLDER, `${clusterName(file)}.karpenter-${limit}s.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  oracle ??= buildCommand("oracle");
  const [trail] = karpenterTrails(oracle, [file], limit);
  if (trail === undefined) throw new Error(`${file}: Karpenter said nothing`);
  writeFileSync(path, JSON.stringify(trail));
  return trail;
}

const COLUMNS: readonly (readonly [name: string, width: number])[] = [
  ["cluster", -24],
  ["who", -10],
  ["nodes", 12],
  ["$/h before", 11],
  ["after", 10],
  ["saved %", 8],
  ["fresh plan", 16],
  ["moved", 7],
  ["per pod", 7],
  ["twice", 6],
  ["moved per $", 12],
  ["passes", 7],
  ["first ms (cpu)", 15],
  ["idle ms (cpu)", 15],
  ["all s (cpu)", 13],
  ["RSS MiB", 8],
  ["broken", 7],
];

function print(cells: readonly (string | number)[]): void {
  console.log(
    COLUMNS.map(([, width], i) => (width < 0 ? String(cells[i]).padEnd(-width) : String(cells[i]).padStart(width)))
      .join(" ")
      .trimEnd(),
  );
}

function row(name: string, who: string, account: Account, fresh: FreshPlan, { passes, idleMs, idleCpuMs, firstRssMib }: Trail): void {
  const saved = account.before - account.after;
  const allMs = passes.reduce((sum, { millis }) => sum + millis, idleMs ?? 0);
  const allCpuMs = passes.reduce((sum, { cpuMillis }) => sum + cpuMillis, idleCpuMs ?? 0);
  const time = (wall: number, cpu: number, digits = 0): string => `${wall.toFixed(digits)} (${cpu.toFixed(digits)})`;
  print([
    name,
    who,
    `${account.nodesBefore} → ${account.nodesAfter}`,
    account.before.toFixed(3),
    account.after.toFixed(3),
    ((100 * saved) / account.before).toFixed(2),
    `${fresh.nodes}, $${fresh.price.toFixed(3)}`,
    account.podsMoved,
    (account.podsMoved / account.pods).toFixed(2),
    account.podsMovedTwice,
    saved > 0 ? (account.podsMoved / saved).toFixed(2) : "-",
    account.passes,
    time(passes[0]?.millis ?? idleMs ?? 0, passes[0]?.cpuMillis ?? idleCpuMs ?? 0),
    idleMs === undefined || idleCpuMs === undefined ? "stopped" : time(idleMs, idleCpuMs),
    time(allMs / 1000, allCpuMs / 1000, 1),
    firstRssMib.toFixed(0),
    account.broken.length,
  ]);
  for (const rule of account.broken.slice(0, 3)) console.log(`    ${who} breaks a rule: ${rule}`);
}

const total = { broken: 0, dearer: [] as string[], churns: [] as string[], ours: 0, theirs: 0, compared: 0 };
print(COLUMNS.map(([name]) => name));
for (const file of files) {
  const name = clusterName(file);
  const scenario = readScenario(file);
  const ourTrail = measureOurs(file);
  const ours = replay(scenario, ourTrail);
  const fresh = freshPlan(scenario);
  row(name, "ours", ours, fresh, ourTrail);
  total.broken += ours.broken.length;
  if (!values.oracle) continue;
  const theirTrail = askKarpenter(file);
  const theirs = replay(scenario, theirTrail);
  row("", "Karpenter", theirs, fresh, theirTrail);
  total.compared++;
  total.ours += ours.after;
  total.theirs += theirs.after;
  if (ours.after > theirs.after + PRICE_TOLERANCE) total.dearer.push(name);
  if (ours.podsMoved / (ours.before - ours.after) > theirs.podsMoved / (theirs.before - theirs.after) + PRICE_TOLERANCE)
    total.churns.push(name);
}
console.log(
  "\nfresh plan: nodes and $/h of a plan for all pods on new nodes alone; per pod: moves of a pod in the mean; twice: pods that moved more than once; first, idle: deciding in the first pass, and in the one that finds nothing (stopped: the limit came first); all: in all passes; in brackets CPU time of all threads. RSS: peak up to the end of the first pass, input included.",
);
if (total.compared > 0) {
  console.log(
    `${total.compared} compared: $${total.ours.toFixed(3)}/h ours, $${total.theirs.toFixed(3)}/h Karpenter's (${(100 * (total.ours / total.theirs - 1)).toFixed(2)} %); ` +
      `dearer: ${total.dearer.join(", ") || "none"}; more pods moved per dollar: ${total.churns.join(", ") || "none"}`,
  );
}
console.log(`rules that we broke: ${total.broken}`);
process.exitCode = total.broken + total.dearer.length > 0 ? 1 : 0;
