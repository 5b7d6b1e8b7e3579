/**
 * Solve times by size: `npm run -s bench [-- FAMILY|FILE…] [--sizes 10,100,…] [--runs N]`. Prints a JSON line for each
 * size, then a table. Each size is measured in a process of its own (measure.ts); no test asserts a time. Families:
 * diverse (Karpenter's mix, 400 types), deployments (the AWS catalogue). FILE: a scenario as in the conformance folder.
 *
 * `--oracle` (needs Go) runs Karpenter v1.15.0 itself on the same pods right after ours, and prints CPU times of all
 * threads, which a busy machine stretches less: of the first solve of a process (cold) and of the best (warm).
 * `--shapes` prints CPU seconds instead, of a first solve, and adds the families of pods that are all alike, or all
 * different (all-different.ts).
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { askKarpenter } from "./karpenter.ts";
import { FAMILIES, FAMILIES_AND_SHAPES, type Family } from "./workloads.ts";

/** Karpenter's solve times on a machine of this size with its production settings; ms by family and number of pods. */
const KARPENTER: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  diverse: { 100: 87, 1000: 1050, 5000: 7006, 10000: 27896 },
  deployments: { 100: 414, 1000: 1089, 5000: 23010, 10000: 35553 },
};

interface Line {
  readonly source: string;
  readonly pods: number;
  readonly coldMs: number;
  readonly coldCpuMs: number;
  readonly bestCpuMs: number;
  readonly bestMs: number;
  readonly medianMs: number;
  readonly podsPerSecond: number;
  readonly claims: number;
  readonly left: number;
  readonly pricePerHour: number;
  /** How much the price is above the linear program (lower-bound.ts), without and with topology spreads over zones. */
  readonly plainGapPercent?: number;
  readonly spreadGapPercent?: number;
  readonly heapMib: number;
  /** Resident memory after the first solve, with the input. */
  readonly coldRssMib: number;
  readonly peakRssMib: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: "string", default: "10,100,1000,5000,10000,50000" },
    runs: { type: "string" },
    shapes: { type: "boolean", default: false },
    oracle: { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
const runs = Number(values.runs ?? (values.shapes ? 0 : 5));
if (sizes.some((size) => !Number.isInteger(size) || size < 1) || !Number.isInteger(runs) || runs < (values.shapes ? 0 : 1)) {
  console.error("--sizes takes whole numbers with commas between them and --runs one number, as in: --sizes 100,5000 --runs 5");
  process.exit(2);
}
const isFamily = (source: string): boolean => (FAMILIES_AND_SHAPES as readonly string[]).includes(source);
const unknown = positionals.find((source) => !isFamily(source) && !existsSync(source));
if (unknown !== undefined) {
  console.error(`${unknown} is neither a family (${FAMILIES_AND_SHAPES.join(", ")}) nor a scenario file`);
  process.exit(2);
}
const sources = positionals.length > 0 ? positionals : values.shapes ? FAMILIES_AND_SHAPES : FAMILIES;
const lines: Line[] = [];
for (const source of sources) {
  for (const size of isFamily(source) ? sizes : [0]) {
    const script = fileURLToPath(new URL("measure.ts", import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, [script, source, String(size), String(runs)], { encoding: "utf8" });
    if (status !== 0) {
      console.error(`${source}: ${/^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? "the measurement ended early"}`);
      process.exitCode = 1;
      continue;
    }
    const line = JSON.parse(stdout) as Line;
    const theirs = values.oracle && isFamily(source) ? askKarpenter(source as Family, size, runs + 1) : undefined;
    if (values.shapes) printCpu(line, theirs);
    else if (values.oracle) printBeside(line, theirs);
    else process.stdout.write(stdout);
    lines.push(line);
  }
}

if (values.shapes || values.oracle) process.exit();

const HEAD =
  "source               pods  cold ms  best ms  median  pods/s  claims  left      $/h  gap %: LP, with spread  heap MiB  rss cold/peak MiB  × Karpenter";
console.log(`\n${HEAD}`);
for (const line of lines) {
  const theirs = KARPENTER[line.source.split("-")[0] ?? ""]?.[line.pods];
  const cells: readonly (readonly [string | number, number])[] = [
    [line.pods, 8],
    [line.coldMs, 9],
    [line.bestMs, 9],
    [line.medianMs, 8],
    [line.podsPerSecond, 8],
    [line.claims, 8],
    [line.left, 6],
    [line.pricePerHour.toFixed(2), 9],
    [line.plainGapPercent === undefined ? "" : `${line.plainGapPercent}, ${line.spreadGapPercent}`, 24],
    [line.heapMib, 10],
    [`${Math.round(line.coldRssMib)}/${Math.round(line.peakRssMib)}`, 19],
    [theirs === undefined ? "" : `${(theirs / line.bestMs).toFixed(0)} (cold ${(theirs / line.coldMs).toFixed(0)})`, 14],
  ];
  console.log(line.source.padEnd(17) + cells.map(([text, width]) => String(text).padStart(width)).join(""));
}
for (const family of FAMILIES) {
  const measured = lines.filter(({ source, pods }) => source === family && pods >= 1000);
  if (measured.length > 1)
    console.log(`${family}: time grows as pods^${exponent(measured).toFixed(2)} from 1,000 pods on (best of the warm runs)`);
}

/** One row of `--shapes`. */
function printCpu(
  { source, pods, coldCpuMs, claims, left, pricePerHour, peakRssMib }: Line,
  theirs: ReturnType<typeof askKarpenter>,
): void {
  const ours = `${(coldCpuMs / 1000).toFixed(2)} s  ${claims} nodes  ${pricePerHour.toFixed(2)} $/h  left ${left}  ${Math.round(peakRssMib)} MiB`;
  const ratio = theirs === undefined ? 0 : theirs.cpuMs / coldCpuMs;
  const beside =
    theirs === undefined
      ? ""
      : `  Karpenter ${(theirs.cpuMs / 1000).toFixed(2)} s  ${theirs.nodes} nodes  left ${theirs.left}  × ${ratio.toFixed(1)}`;
  console.log(`${source.padEnd(18)}${String(pods).padStart(7)}  ${ours}${beside}`);
}

/** One row of `--oracle`, as in docs/data/speed.json. */
function printBeside({ source, pods, coldCpuMs, bestCpuMs, claims }: Line, theirs: ReturnType<typeof askKarpenter>): void {
  if (lines.length === 0) {
    console.log("| pods | number | cold: ours, ms | Karpenter, ms | × | warm: ours, ms | Karpenter, ms | × | nodes: ours | Karpenter |");
    console.log("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
  }
  const beside = (ours: number, their: number | undefined): readonly string[] =>
    their === undefined ? [ours.toFixed(0), "", ""] : [ours.toFixed(0), their.toFixed(0), (their / ours).toFixed(1)];
  const cells = [source, pods, ...beside(coldCpuMs, theirs?.cpuMs), ...beside(bestCpuMs, theirs?.bestCpuMs), claims, theirs?.nodes ?? ""];
  console.log(`| ${cells.join(" | ")} |`);
}

/** Slope of log(time) over log(pods), least squares. */
function exponent(measured: readonly Line[]): number {
  const points = measured.map(({ pods, bestMs }) => [Math.log(pods), Math.log(bestMs)] as const);
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([px]) => px), mean(([, py]) => py)];
  const covariance = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  return covariance / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
}
