import { type Report, reportOf } from "#core/insight/history/report.ts";
import { dollars, whyItEnds } from "#core/insight/history/words.ts";
import { span } from "#core/lib/duration.ts";
import { perHour } from "#core/model/prices.ts";
import { fitted } from "#terminal/columns.ts";
import { InputError } from "#terminal/input-error.ts";
import type { HistorySource } from "./source.ts";
import { timeText } from "./time.ts";

const FORMATS = ["markdown", "csv", "json"] as const;
export type ReportFormat = (typeof FORMATS)[number];

/** EC2's code, in words where it is the usual one. */
const failureText = (code: string): string =>
  /Capacity|MaxSpotInstanceCount|VcpuLimit/.test(code)
    ? "EC2 had no capacity, or the account has reached a limit; another type, zone or capacity type is tried next"
    : "history has the message";

/** Throws InputError. */
export function formatOf(text = "markdown"): ReportFormat {
  const found = FORMATS.find((format) => format === text);
  if (found === undefined) throw new InputError(`--format ${text}: there are ${FORMATS.join(", ")}`);
  return found;
}

export interface ReportOptions {
  /** ms. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  readonly nodePool?: string | undefined;
  readonly format: ReportFormat;
}

/** What the machines of a cluster cost, and what happened to them. */
export async function report({ cluster, store, now }: HistorySource, { since, until, nodePool, format }: ReportOptions): Promise<string> {
  // Records first: a machine that ends in between is then in both, and counted once by its end.
  const records = await store.list(cluster);
  const entries = await store.history(cluster, { since, until: now + 1 });
  const made = reportOf({ cluster, since, until: Math.min(until, now), entries, records, nodePool });
  if (format === "json") return `${JSON.stringify(asJson(made), undefined, 2)}\n`;
  return format === "csv" ? asCsv(made) : asMarkdown(made, nodePool);
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Times as text, and amounts without the noise of floats. */
function asJson({ since, until, ...made }: Report): unknown {
  const rounded = (value: unknown): unknown => {
    if (typeof value === "number") return round(value);
    if (Array.isArray(value)) return value.map(rounded);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]));
  };
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString(), ...(rounded(made) as object) };
}

function asCsv({ rows }: Report): string {
  const head = "day,nodepool,capacity_type,node_hours,dollars,on_demand_dollars";
  const lines = rows.map(({ day, nodePool, capacityType, nodeHours, dollars: usd, onDemandDollars }) =>
    [day, nodePool, capacityType, round(nodeHours), round(usd), round(onDemandDollars)].join(","),
  );
  return `${[head, ...lines].join("\n")}\n`;
}

function asMarkdown(made: Report, nodePool: string | undefined): string {
  const { cluster, since, until, rows, total, disruptions, endings, launchFailures } = made;
  const of = nodePool === undefined ? "" : `, NodePool ${nodePool}`;
  const list = (counts: Readonly<Record<string, number>>, text: (name: string) => string): readonly string[] =>
    Object.entries(counts).map(([name, count]) => `- ${count} × ${name}: ${text(name)}`);
  const table = (head: readonly string[], lines: readonly (readonly string[])[]): readonly string[] =>
    lines.length === 0
      ? []
      : ["", `| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...lines.map((cells) => `| ${cells.join(" | ")} |`)];
  const pools = [...Map.groupBy(rows, (row) => row.nodePool)].map(([pool, of]) => {
    const add = (value: (row: Report["rows"][number]) => number): number => of.reduce((sum, row) => sum + value(row), 0);
    return [
      pool || "(none)",
      add(({ nodeHours }) => nodeHours).toFixed(1),
      dollars(add((row) => row.dollars)),
      dollars(add((row) => row.onDemandDollars)),
    ];
  });
  const days = rows.map((row) => [row.day, row.nodePool || "(none)", row.capacityType, row.nodeHours.toFixed(1), dollars(row.dollars)]);
  return `${[
    `# Cluster ${cluster}${of}: ${timeText(since)} to ${timeText(until)} (UTC)`,
    "",
    `- cost: ${dollars(total.dollars)} for ${total.nodeHours.toFixed(1)} node hours, ${dollars(total.onDemandDollars)} on demand`,
    `- now: ${made.running} nodes, ${perHour(made.runningPerHour)}`,
    `- saved by spot: ${dollars(made.savedBySpot)}`,
    `- saved by consolidation: ${dollars(made.savedByConsolidation)} (each saving counted for a day at most)`,
    `- nodes launched: ${made.launched}, ended: ${made.ended}, interrupted by EC2: ${made.interruptions}`,
    ...(made.waits > 0 ? [`- waits of pods that no plan could place: ${made.waits}, the longest ${span(made.longestWaitMs)}`] : []),
    ...(made.unpriced > 0 ? [`- nodes whose price is not known, which count no dollars: ${made.unpriced}`] : []),
    "",
    "Dollars are the hours of each machine at its price at launch: list price, or the spot price of that moment.",
    ...table(["NodePool", "node hours", "cost", "on demand"], pools),
    ...table(
      ["disruption", "commands", "nodes", "pods moved", "saving", "counted"],
      Object.entries(disruptions).map(([reason, d]) => [
        reason,
        String(d.commands),
        String(d.nodes),
        String(d.pods),
        perHour(d.savesPerHour),
        dollars(d.saved),
      ]),
    ),
    ...(Object.keys(endings).length > 0 ? ["", "Why nodes ended:", "", ...list(endings, whyItEnds)] : []),
    ...(Object.keys(launchFailures).length > 0
      ? ["", "NodeClaims whose launch brought no machine:", "", ...list(launchFailures, failureText)]
      : []),
    ...table(["day", "NodePool", "capacity type", "node hours", "cost"], days),
  ]
    // A table of Markdown has a line for each row, however long.
    .map((line) => (line.startsWith("|") ? line : fitted(line)))
    .join("\n")}\n`;
}
