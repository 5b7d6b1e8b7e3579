/**
 * Compares our consolidation with Karpenter's (test/go/cmd/oracle) on small underutilized clusters of all kinds, each
 * repeated until no command follows:
 *
 * `node test/conformance/clusters/compare.ts [--seed S] [--count N] [--from I] [--keep FOLDER NAME…]`. Prints the
 * clusters where we break a rule, end more expensive, or move more pods for each dollar saved; then totals. Karpenter's
 * trails are kept in .cache/clusters/small. Exits 1 when we break a rule or end more expensive. --keep writes the
 * clusters of these names with Karpenter's figures, as generated-clusters.test.ts reads them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { buildCommand } from "../../go/build.ts";
import { type ClusterScenario, underutilizedCluster } from "./cluster.ts";
import { karpenterTrails } from "./karpenter-trails.ts";
import { CLUSTER_KINDS, type ClusterKindName } from "./kinds.ts";
import { type Account, replay } from "./replay.ts";
import { ourTrail, type Trail } from "./trail.ts";

const USAGE =
  "usage: node test/conformance/clusters/compare.ts [--seed S] [--count N] [--from I] [--keep FOLDER NAME…] (S, N and I whole numbers)";
const CACHE = resolve(import.meta.dirname, "../../../.cache/clusters/small");
/** Clusters of one oracle process: an interrupted run keeps the finished batches. */
const BATCH = 20;
/** Limit of the CPU time for decisions on one cluster, s; such clusters need a few seconds. */
const LIMIT = 120;
/** Prices closer than this are equal (USD per hour), because they are sums of floats. */
const PRICE_TOLERANCE = 1e-6;

/** Cluster `i` of a seed: the kinds take turns; 10 to 40 nodes, 4 to 16 families on offer. */
function smallCluster(seed: number, i: number): ClusterScenario {
  const kinds = Object.keys(CLUSTER_KINDS) as ClusterKindName[];
  const kind = kinds[i % kinds.length] ?? "mixed";
  return underutilizedCluster({ kind, seed: seed * 10_000 + i, nodes: 10 + ((i * 7) % 31), families: 4 + ((i * 5) % 13) });
}

const trailFile = ({ name }: ClusterScenario): string => join(CACHE, `${name}.karpenter.json`);

function askKarpenter(clusters: readonly ClusterScenario[]): void {
  const unknown = clusters.filter((cluster) => !existsSync(trailFile(cluster)));
  if (unknown.length === 0) return;
  const oracle = buildCommand("oracle");
  mkdirSync(CACHE, { recursive: true });
  for (let i = 0; i < unknown.length; i += BATCH) {
    const batch = unknown.slice(i, i + BATCH);
    const files = batch.map((cluster) => join(CACHE, `${cluster.name}.scenario.json`));
    for (const [j, cluster] of batch.entries()) writeFileSync(files[j] ?? "", JSON.stringify(cluster));
    karpenterTrails(oracle, files, LIMIT).forEach((trail, j) => {
      const cluster = batch[j];
      if (cluster) writeFileSync(trailFile(cluster), JSON.stringify(trail));
    });
  }
}

/** A cluster with Karpenter's result on it. */
function keep(folder: string, scenario: ClusterScenario, { after, podsMoved, passes, before }: Account): void {
  mkdirSync(folder, { recursive: true });
  const kept = { scenario, karpenter: { before, after, podsMoved, passes } };
  writeFileSync(join(folder, `${scenario.name}.json.gz`), gzipSync(JSON.stringify(kept), { level: 9 }));
}

const perDollar = ({ podsMoved, before, after }: Account): number => (before > after ? podsMoved / (before - after) : 0);
const published = (one: Account): string =>
  `$${one.after.toFixed(4)}/h, ${one.podsMoved} moved, ${perDollar(one).toFixed(1)} per $, ${one.passes} passes, ${one.nodesAfter} nodes`;

function main(seed: number, from: number, count: number, keepIn: string | undefined, names: readonly string[]): boolean {
  const clusters = Array.from({ length: count }, (_, i) => smallCluster(seed, from + i)).filter(
    ({ name }) => names.length === 0 || names.includes(name),
  );
  askKarpenter(clusters);
  const total = { ours: 0, theirs: 0, before: 0, moved: 0, theyMoved: 0, broken: 0, dearer: 0, cheaper: 0, churns: 0, theyBreak: 0 };
  for (const cluster of clusters) {
    const trail = ourTrail(scenarioToSnapshot(cluster), LIMIT * 1000);
    const ours = replay(cluster, trail);
    const theirs = replay(cluster, JSON.parse(readFileSync(trailFile(cluster), "utf8")) as Trail);
    if (keepIn !== undefined) keep(keepIn, cluster, theirs);
    const isDearer = ours.after > theirs.after + PRICE_TOLERANCE;
    const churns = perDollar(ours) > perDollar(theirs) + PRICE_TOLERANCE;
    total.ours += ours.after;
    total.theirs += theirs.after;
    total.before += ours.before;
    total.moved += ours.podsMoved;
    total.theyMoved += theirs.podsMoved;
    total.broken += ours.broken.length > 0 || trail.idleMs === undefined ? 1 : 0;
    total.theyBreak += theirs.broken.length > 0 ? 1 : 0;
    total.dearer += isDearer ? 1 : 0;
    total.cheaper += ours.after < theirs.after - PRICE_TOLERANCE ? 1 : 0;
    total.churns += churns ? 1 : 0;
    const marks = [
      ours.broken.length > 0 ? "BROKEN" : "",
      trail.idleMs === undefined ? "NO END" : "",
      isDearer ? "DEARER" : "",
      churns ? "more moves per $" : "",
    ].filter((one) => one !== "");
    if (marks.length > 0 || names.length > 0) {
      console.log(
        `${cluster.name} ${marks.join(", ")}: $${ours.before.toFixed(4)}/h before; ours ${published(ours)} | Karpenter ${published(theirs)}`,
      );
    }
    for (const rule of ours.broken.slice(0, 3)) console.log(`    ${rule}`);
  }
  console.log(
    `${clusters.length} clusters: ${total.broken} break a rule or find no end (Karpenter: ${total.theyBreak}), ${total.dearer} dearer, ${total.cheaper} cheaper; ` +
      `$${total.before.toFixed(2)}/h before, ${total.ours.toFixed(2)} ours, ${total.theirs.toFixed(2)} Karpenter's (${(100 * (total.ours / total.theirs - 1)).toFixed(2)} %); ` +
      `pods moved per dollar ${(total.moved / (total.before - total.ours)).toFixed(2)} ours, ${(total.theyMoved / (total.before - total.theirs)).toFixed(2)} Karpenter's (more on ${total.churns})`,
  );
  return total.broken + total.dearer === 0;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: "string" }, from: { type: "string" }, count: { type: "string" }, keep: { type: "string" } },
  });
  const [seed, from, count] = [values.seed ?? "1", values.from ?? "0", values.count ?? "216"].map((text) =>
    /^\d+$/.test(text) ? Number(text) : Number.NaN,
  ) as [number, number, number];
  if (Number.isNaN(seed + from + count)) throw new TypeError("numbers must be whole");
  process.exitCode = main(seed, from, count, values.keep, positionals) ? 0 : 1;
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}; ${USAGE}`);
  process.exitCode = 2;
}
