import type { Figures } from "#core/insight/observed/figures.ts";
import type { TraceHeader } from "#core/insight/observed/trace.ts";
import { span } from "#core/lib/duration.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { INSTALLED } from "#settings/program.ts";
import { wrapped } from "#terminal/columns.ts";
import { timeText } from "../history/time.ts";
import { dollars } from "../what-if/table.ts";

/** What a replay is compared by. */
export interface Comparison {
  readonly header: TraceHeader;
  /** ms since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly looks: number;
  readonly observed: Figures;
  readonly replayed: Figures;
  /** Sentences about what the comparison takes for granted, or leaves out. */
  readonly assumed: readonly string[];
}

const about = (amount: number): string => `~${dollars(amount)}`;
const change = (before: number, after: number): string => {
  if (before === 0) return "";
  const percent = (100 * (after - before)) / before;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(1)} %`;
};
const percent = (share: number): string => `${Math.round(100 * share)} %`;
const seconds = (value: number): string => `${Math.round(value)} s`;
const oneDigit = (value: number): string => value.toFixed(1);

/** A figure, observed and replayed, and how they differ. */
export type Row = readonly [what: string, observed: string, replayed: string, difference: string];

export function rowsOf({ observed, replayed }: Comparison): readonly Row[] {
  const month = (figures: Figures): number => (figures.span === 0 ? 0 : (figures.dollars * HOURS_A_MONTH * 3_600_000) / figures.span);
  const row = (what: string, of: (figures: Figures) => number, show: (value: number) => string, withChange = false): Row => [
    what,
    show(of(observed)),
    show(of(replayed)),
    withChange ? change(of(observed), of(replayed)) : "",
  ];
  return [
    row("cost", (one) => one.dollars, about, true),
    row("a month at this rate", month, about),
    row("nodes, mean", ({ machines }) => machines.mean, oneDigit, true),
    row("nodes, most", ({ machines }) => machines.most, String),
    row("nodes bought", ({ machines }) => machines.bought, String),
    row("CPU asked for", ({ asked }) => asked.cpu, percent),
    row("memory asked for", ({ asked }) => asked.memory, percent),
    row("pods moved", ({ moves }) => moves, String, true),
    row("new pods waited, p50", ({ waits }) => waits.p50, seconds),
    row("new pods waited, p95", ({ waits }) => waits.p95, seconds),
    row("new pods waited, most", ({ waits }) => waits.most, seconds),
    row("pods left without a node", ({ unbound }) => unbound.length, String),
  ];
}

export function poolRows({ observed, replayed }: Comparison): readonly Row[] {
  const names = [...new Set([...observed.byNodePool.keys(), ...replayed.byNodePool.keys()])].sort();
  return names.map((name) => {
    const [before, after] = [observed.byNodePool.get(name) ?? 0, replayed.byNodePool.get(name) ?? 0];
    return [name, about(before), about(after), change(before, after)];
  });
}

/** What would have been worse, a sentence each. */
function worse({ observed: was, replayed: would }: Comparison): readonly string[] {
  const found: string[] = [];
  if (would.dollars > was.dollars * 1.001) found.push(`nodes cost ${about(would.dollars - was.dollars)} more`);
  if (would.moves > was.moves) found.push(`${counted(would.moves - was.moves, "more pod")} moved`);
  if (would.waits.p50 > was.waits.p50 + 0.5) found.push(`half of the new pods waited ${seconds(would.waits.p50 - was.waits.p50)} longer`);
  if (would.waits.p95 > was.waits.p95 + 0.5) found.push(`one new pod in twenty waited ${seconds(would.waits.p95 - was.waits.p95)} longer`);
  const lost = would.unbound.filter((pod) => !was.unbound.includes(pod));
  if (lost.length > 0 && would.unbound.length > was.unbound.length)
    found.push(`${counted(would.unbound.length, "pod")} had no node at the end, and ${was.unbound.length} in fact: ${listed(lost, 3)}`);
  return found;
}

/** The sums in one sentence. */
export function verdict(comparison: Comparison): string {
  const { observed: was, replayed: would, from, to } = comparison;
  const nodes = `${oneDigit(would.machines.mean)} nodes instead of ${oneDigit(was.machines.mean)}`;
  return `In ${span(to - from)} the nodes cost ${about(was.dollars)}; with ${INSTALLED} they would have cost ${about(would.dollars)}${was.dollars > 0 ? ` (${change(was.dollars, would.dollars)})` : ""}, with ${nodes} on average, ${would.moves} pods moved instead of ${was.moves}, and new pods waiting ${seconds(would.waits.p95)} at p95 instead of ${seconds(was.waits.p95)}.`;
}

/** The cluster and the time that is compared. */
export const title = ({ header, from, to, looks }: Comparison): string =>
  `${header.cluster}, ${when(from)} to ${when(to)} UTC, ${counted(looks, "look")}`;

/** To the minute, UTC. */
const when = (at: number): string => timeText(at).slice(0, 16);

/** What would have been worse, or that nothing would. */
export function worseText(comparison: Comparison): string {
  const found = worse(comparison);
  return found.length === 0 ? "Nothing that is measured here would have been worse." : `What would have been worse: ${found.join("; ")}.`;
}

/** Width of the first column, so that the table fits a terminal of 60 columns. */
const LABEL = 24;

/** The comparison for a terminal. */
export function reportText(comparison: Comparison): string {
  const head: Row = ["", "OBSERVED", "REPLAYED", ""];
  const pools = poolRows(comparison).map(
    ([name, ...cells]): Row => [name.length > LABEL ? `${name.slice(0, LABEL - 1)}…` : name, ...cells],
  );
  const rows = [head, ...rowsOf(comparison), ["", "", "", ""] as Row, ...pools];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: Row): string =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [
    ...wrapped(title(comparison)),
    "",
    ...wrapped(verdict(comparison)),
    "",
    ...rows.map(line),
    "",
    ...wrapped(worseText(comparison)),
    "",
    ...comparison.assumed.flatMap((sentence) => wrapped(`~ ${sentence}`, 2)),
    "",
  ].join("\n");
}

/** The comparison as Markdown. */
export function reportMarkdown(comparison: Comparison): string {
  const table = (head: Row, rows: readonly Row[]): readonly string[] => [
    `| ${head.join(" | ")} |`,
    "|---|--:|--:|--:|",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ];
  const { autoscaler } = comparison.header;
  return [
    `# ${title(comparison)}`,
    "",
    verdict(comparison),
    "",
    ...table(["", autoscaler, INSTALLED, ""], rowsOf(comparison)),
    "",
    ...table(["NodePool", autoscaler, INSTALLED, ""], poolRows(comparison)),
    "",
    `**${worseText(comparison)}**`,
    "",
    ...comparison.assumed.map((sentence) => `- ${sentence}`),
    "",
  ].join("\n");
}

/** The comparison as JSON: times in ms since the epoch, amounts in USD, waits in seconds. */
export function reportJson(comparison: Comparison): string {
  const plain = (figures: Figures) => ({ ...figures, byNodePool: Object.fromEntries(figures.byNodePool) });
  const { observed, replayed, ...rest } = comparison;
  return `${JSON.stringify({ ...rest, observed: plain(observed), replayed: plain(replayed), worse: worse(comparison) }, undefined, 2)}\n`;
}
