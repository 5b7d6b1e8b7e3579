import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { savedSource } from "#cli/what-if/save.ts";
import type { Pod } from "#core/model/pod.ts";
import { solve } from "#core/scheduling/solve.ts";
import { readClusterState } from "#functions/shared/cluster-state.ts";
import type { Lab } from "#lab/host.ts";
import { playManifests } from "#lab/play.ts";
import type { LabReport } from "#lab/report.ts";
import { ManifestError } from "#manifests/read.ts";
import { buildCommand } from "../go/build.ts";
import { programOptions } from "../support/program-options.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { compareWithKarpenter } from "./verdict.ts";

/**
 * Plays each project of a folder (a folder of manifests each) as `npm start -- PROJECT` does, and prints a table. With
 * --oracle, all pods of the end are also planned at once, by us and by Karpenter (test/go/cmd/oracle), on an empty
 * cluster with the same NodePools. The manifests of others are not in the repository: fetch them, and keep them
 * outside.
 *
 *     node test/conformance/projects.ts FOLDER [PROJECT...] [--oracle] [--runs 3] [--reasons]
 */
const USAGE = "usage: node test/conformance/projects.ts FOLDER [PROJECT...] [--oracle] [--runs N] [--reasons]";
const { values, positionals } = programOptions(USAGE, {
  allowPositionals: true,
  options: {
    oracle: { type: "boolean", default: false },
    runs: { type: "string", default: "3" },
    reasons: { type: "boolean", default: false },
  },
});
const [folder, ...chosen] = positionals;
if (folder === undefined) {
  console.error(USAGE);
  process.exit(2);
}

interface Played {
  readonly report: LabReport;
  /** How many plans bought nodes. */
  readonly waves: number;
  readonly scenario: Record<string, unknown>;
}

/** The lab prints one line of its log for each plan that buys nodes. */
const BUYS = "computed new nodeclaim(s) to fit pod(s)";
/** As `npm start` has them. */
const QUIET_MINUTES = 5;

async function play(project: string): Promise<Played> {
  const log: string[] = [];
  const played: Omit<Played, "waves">[] = [];
  await playManifests([project], [], QUIET_MINUTES, {
    json: true,
    colour: false,
    seed: 1,
    region: "us-west-2",
    print: (line) => void log.push(line),
    onReport: async (report, lab) => void played.push({ report, scenario: await scenarioOf(project, lab) }),
  });
  const [end] = played;
  if (end === undefined) throw new Error(`${project}: the lab gave no report`);
  return { ...end, waves: log.filter((line) => line.includes(BUYS)).length };
}

/** All pods that do not come with a node, as if none of them had been planned yet. */
async function scenarioOf(name: string, { deps }: Lab): Promise<Record<string, unknown>> {
  const { snapshot, nodeClasses } = await readClusterState(deps);
  const isDaemon = ({ metadata }: Pod): boolean => metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") ?? false;
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] as const;
  const pods = snapshot.pods
    .filter((pod) => !isDaemon(pod) && pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed")
    .map(({ spec: { nodeName: _, ...spec }, ...pod }) => ({ ...pod, spec, status: { phase: "Pending" as const, conditions } }));
  const types = new Map(
    snapshot.nodePools.map(({ metadata, spec }) => [spec.template.spec.nodeClassRef.name, snapshot.instanceTypes.get(metadata.name) ?? []]),
  );
  return savedSource({
    name,
    snapshot: { ...snapshot, pods, nodes: [], nodeClaims: [] },
    nodeClasses,
    nodeOverlays: [],
    intents: { records: [], commands: [] },
    typesOf: (nodeClass) => types.get(nodeClass) ?? [],
    knowsClasses: false,
    remarks: [],
  });
}

const dollars = (amount: number | undefined): string => (amount === undefined ? "-" : amount.toFixed(3));

/** Nodes and USD per hour, ours and Karpenter's, of one plan for all pods. */
function planned(scenario: Record<string, unknown>): readonly string[] {
  const scratch = temporaryFolder("projects");
  try {
    const file = join(scratch, "project.scenario.json");
    writeFileSync(file, JSON.stringify(scenario));
    const text = execFileSync(buildCommand("oracle"), ["-runs", values.runs, file], { encoding: "utf8", maxBuffer: 2 ** 30 });
    const { plans } = JSON.parse(text);
    const read = readScenario(file);
    const plan = solve(scenarioToSnapshot(read));
    const { price, cost, best, cheapest, left } = compareWithKarpenter(read, plan, plans);
    const nodes = [...new Set(plans.map((one: { newNodeClaims: unknown[] }) => one.newNodeClaims.length))].join("/");
    return [
      `${plan.newNodeClaims.length}`,
      dollars(price),
      dollars(cost),
      nodes,
      best === undefined ? `${dollars(cheapest)}*` : dollars(best.price),
      dollars(best?.cost),
      `${left.length}`,
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const HEAD = ["project", "pods", "nodes", "$/h", "plans", "s to Running", "never placed"];
const PLANNED = ["planned at once: nodes", "$/h", "cost", "Karpenter: nodes", "$/h", "cost", "left"];

async function row(name: string): Promise<readonly string[]> {
  try {
    const { report, waves, scenario } = await play(join(folder ?? "", name));
    const waiting = report.pods.filter(({ phase }) => phase === "Pending");
    const price = report.nodes.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
    const last = Math.max(0, ...report.pods.map(({ startedAfter }) => startedAfter ?? 0));
    const numbers = [report.pods.length, report.nodes.length, dollars(price), waves, last, waiting.length].map(String);
    if (values.reasons) for (const reason of new Set(waiting.map((pod) => pod.reason))) console.error(`${name}: ${reason}`);
    return [name, ...numbers, ...(values.oracle ? planned(scenario) : [])];
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    console.error(`${name}: ${error.message}`);
    return [name, "refused", ...HEAD.slice(2).map(() => "-"), ...(values.oracle ? PLANNED.map(() => "-") : [])];
  }
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const head = [...HEAD, ...(values.oracle ? PLANNED : [])];
console.log(line(head));
console.log(line(head.map(() => "---")));
const projects = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
for (const name of projects.sort()) if (chosen.length === 0 || chosen.includes(name)) console.log(line(await row(name)));
