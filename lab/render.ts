import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import { conditionOf } from "#core/model/conditions.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import { endOf, type Job } from "./world/actors/owned-pods.ts";
import type { CostLine } from "./world/cost.ts";
import { podRequests, toNumber } from "./world/quantity.ts";

export const WIDTH = 120;

/** One line of the story. */
export interface TimelineEntry {
  /** ms since the epoch. */
  readonly at: number;
  readonly what: string;
  readonly which: string;
  readonly why?: string;
  /** USD per hour of everything that runs, after this. */
  readonly pricePerHour?: number;
  readonly isError?: boolean;
}

interface TimelineOptions {
  /** ms since the epoch: +00:00. */
  readonly start: number;
  /** Only for a terminal. */
  readonly colour?: boolean;
  /** Columns; 120 when absent. */
  readonly width?: number;
}

/** Widths of the columns, in characters. */
const WHAT_COLUMNS = 26;
const TIME_COLUMNS = 8;
const PRICE_COLUMNS = 10;
/** On a terminal that is narrower the object and the reason have no column of their own, but lines of their own. */
const LEAST_FOR_COLUMNS = 100;

/** "+01:05  launched nodeclaim  default-x7k2p  why …  $0.096/h", in as many lines as the width asks for. */
export function renderEntry(
  { at, what, which, why, pricePerHour, isError }: TimelineEntry,
  { start, colour = false, width = WIDTH }: TimelineOptions,
): string {
  const indent = " ".repeat(TIME_COLUMNS + 2);
  const room = width - TIME_COLUMNS - 2 - PRICE_COLUMNS;
  const { head, lines } = width < LEAST_FOR_COLUMNS ? stacked(what, [which, why], room) : inColumns(what, [which, why], room);
  const price =
    pricePerHour === undefined
      ? ""
      : `$${pricePerHour.toFixed(pricePerHour < 10 ? 3 : pricePerHour < 1_000 ? 2 : 0)}/h`.padStart(PRICE_COLUMNS);
  const first = price === "" ? (lines[0] ?? "") : `${(lines[0] ?? "").padEnd(room)}${price}`;
  const [on, off] = colour ? [isError ? "\u001b[31m" : "\u001b[1m", "\u001b[0m"] : ["", ""];
  const painted = `${on}${head.trimEnd()}${off}${first.slice(head.trimEnd().length)}`;
  // From ten hours on the time takes one of the two blanks behind it.
  return [`${elapsed(at - start).padEnd(TIME_COLUMNS + 2)}${painted}`, ...lines.slice(1).map((line) => `${indent}${line}`)].join("\n");
}

/** What was done at the head of its lines, and the lines, of which the first has `room` characters. */
interface EntryLines {
  readonly head: string;
  readonly lines: readonly string[];
}

const joined = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== "").join("  ");

function inColumns(what: string, texts: readonly (string | undefined)[], room: number): EntryLines {
  // A text that is longer than its column continues in the next column, from a blank on.
  const cut = what.length > WHAT_COLUMNS ? what.lastIndexOf(" ", WHAT_COLUMNS) : what.length;
  const [head, more] = cut > 0 ? [what.slice(0, cut), what.slice(cut).trimStart()] : [`${what}  `, ""];
  const rest = joined([more, ...texts]);
  return { head, lines: wrap(`${head.padEnd(WHAT_COLUMNS + 2)}${rest}`.trimEnd(), room, " ".repeat(WHAT_COLUMNS + 2)) };
}

/** What was done on the first line, and the texts below it, unless one line holds all. */
function stacked(what: string, texts: readonly (string | undefined)[], room: number): EntryLines {
  const all = joined([what, ...texts]);
  if (all.length <= room) return { head: what, lines: [all] };
  const [head = "", ...more] = wrap(what, room, "  ");
  const below = joined(texts);
  return { head, lines: [head, ...more, ...(below === "" ? [] : wrap(`  ${below}`, room + PRICE_COLUMNS, "  "))] };
}

/** "+mm:ss", with hours in front from the first hour on, and "+100h59m" from a hundred hours on. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number): string => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  if (hours >= 100) return `+${hours}h${two(Math.floor(seconds / 60) % 60)}m`;
  return `+${hours > 0 ? `${hours}:` : ""}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/**
 * Breaks a text at blanks; a word longer than a line is cut, behind a slash where it has one. Later lines begin with
 * `indent`.
 */
function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const blank = rest.lastIndexOf(" ", width);
    const slash = rest.lastIndexOf("/", width - 1) + 1;
    const at = blank > indent.length ? blank : slash > indent.length ? slash : width;
    lines.push(rest.slice(0, at).trimEnd());
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

/** Columns that are cut to less do not distinguish names. */
const LEAST_CUT = 24;

/**
 * A table as kubectl prints it: three blanks between columns, or two when it would be too wide. If it still is, its
 * widest column is cut with an ellipsis; where a narrow terminal would leave too little of it, the last columns of
 * each row continue below the first ones.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[], width = WIDTH): string {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const total = (gap: number): number => widths.reduce((sum, w) => sum + w + gap, -gap);
  const gap = total(3) > width ? 2 : 3;
  const excess = total(gap) - width;
  const widest = widths.indexOf(Math.max(...widths));
  const left = (widths[widest] ?? 0) - excess;
  const isBroken = excess > 0 && width < WIDTH && left < LEAST_CUT;
  if (excess > 0 && !isBroken) widths[widest] = Math.max(8, left);
  if (isBroken) for (const [i, w] of widths.entries()) widths[i] = Math.min(w, width - BROKEN_INDENT);
  const lines = isBroken ? columnLines(widths, gap, width) : [widths.map((_, i) => i)];
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const cell = (row: readonly string[], i: number): string => cut(row[i] ?? "", widths[i] ?? 0).padEnd(widths[i] ?? 0);
  const line = (row: readonly string[]): string =>
    lines
      .map((columns, n) => `${" ".repeat(n === 0 ? 0 : BROKEN_INDENT)}${columns.map((i) => cell(row, i)).join(" ".repeat(gap))}`.trimEnd())
      .join("\n");
  return [header, ...rows].map(line).join("\n");
}

/** How far the further lines of a row are indented. */
const BROKEN_INDENT = 2;

/** Which columns stand on each line of a row that has no room on one. */
function columnLines(widths: readonly number[], gap: number, width: number): readonly (readonly number[])[] {
  const lines: number[][] = [];
  let used = 0;
  for (const [i, w] of widths.entries()) {
    const isBeside = lines.length > 0 && used + gap + w <= width;
    if (!isBeside) lines.push([]);
    used = isBeside ? used + gap + w : (lines.length === 1 ? 0 : BROKEN_INDENT) + w;
    lines.at(-1)?.push(i);
  }
  return lines;
}

/** `kubectl get nodeclaims`. */
export function renderNodeClaims(claims: readonly NodeClaim[], now: number, width?: number): string {
  if (claims.length === 0) return "No NodeClaims found";
  const rows = claims.map(({ metadata, status }) => [
    metadata.name,
    metadata.labels?.["node.kubernetes.io/instance-type"] ?? "",
    metadata.labels?.["karpenter.sh/capacity-type"] ?? "",
    metadata.labels?.["topology.kubernetes.io/zone"] ?? "",
    status?.nodeName || (status?.providerID === undefined ? "<not launched>" : "<not registered>"),
    status?.conditions?.find((c) => c.type === "Ready")?.status ?? "Unknown",
    age(metadata, now),
  ]);
  return renderTable(["NAME", "TYPE", "CAPACITY", "ZONE", "NODE", "READY", "AGE"], rows, width);
}

/** `kubectl get nodes`, with how full each node is. */
export function renderNodes(nodes: readonly Node[], pods: readonly Pod[], now: number, width?: number): string {
  if (nodes.length === 0) return "No Nodes found";
  const rows = nodes.map((node) => {
    const { metadata, status, spec } = node;
    const own = pods.filter((p) => p.spec.nodeName === metadata.name && p.status?.phase !== "Succeeded" && p.status?.phase !== "Failed");
    const requests = own.map((p) => podRequests(p));
    const used = (name: string): number => requests.reduce((sum, r) => sum + (r.get(name) ?? 0), 0);
    const free = (name: string): number => toNumber(status?.allocatable?.[name]) ?? 0;
    const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)}Gi`;
    const ready = status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ? "Ready" : "NotReady";
    return [
      metadata.name,
      `${ready}${spec.unschedulable ? ",SchedulingDisabled" : ""}`,
      metadata.labels?.["node.kubernetes.io/instance-type"] ?? "",
      metadata.labels?.["topology.kubernetes.io/zone"] ?? "",
      `${own.length}/${free("pods")}`,
      `${used("cpu").toFixed(1)}/${free("cpu").toFixed(1)}`,
      `${gib(used("memory"))}/${gib(free("memory"))}`,
      age(metadata, now),
    ];
  });
  return renderTable(["NAME", "STATUS", "TYPE", "ZONE", "PODS", "CPU", "MEMORY", "AGE"], rows, width);
}

/** `kubectl get jobs`. */
export function renderJobs(jobs: readonly Job[], now: number, width?: number): string {
  const rows = jobs.map((job) => [
    `${job.metadata.namespace}/${job.metadata.name}`,
    endOf(job)?.type ?? (job.spec.suspend === true ? "Suspended" : "Running"),
    `${job.status?.succeeded ?? 0}/${job.spec.completions ?? `1 of ${job.spec.parallelism ?? 1}`}`,
    String(job.status?.failed ?? 0),
    age(job.metadata, now),
  ]);
  return renderTable(["JOB", "STATUS", "COMPLETIONS", "FAILED", "AGE"], rows, width);
}

/** `kubectl get cb`, with the reasons of the conditions in one column each. */
export function renderBuffers(buffers: readonly CapacityBuffer[], now: number, width?: number): string {
  const rows = buffers.map(({ metadata, status }) => [
    `${metadata.namespace}/${metadata.name}`,
    String(status?.replicas ?? ""),
    conditionOf(status?.conditions, "ReadyForProvisioning")?.reason ?? "Unknown",
    conditionOf(status?.conditions, "Provisioning")?.reason ?? "Unknown",
    age(metadata, now),
  ]);
  return renderTable(["BUFFER", "REPLICAS", "READY", "ROOM", "AGE"], rows, width);
}

/** The cost of each instance, and their sum. */
export function renderCosts(lines: readonly CostLine[], width?: number): string {
  if (lines.length === 0) return "No instance was started: $0.00";
  const rows = lines.map((l) => [
    l.instanceId,
    l.instanceType,
    l.capacityType,
    l.zone,
    `$${l.price.toFixed(4)}`,
    duration(l.seconds),
    `$${l.usd.toFixed(4)}`,
  ]);
  const total = lines.reduce((sum, l) => sum + l.usd, 0);
  const count = `${lines.length} instance${lines.length === 1 ? "" : "s"}`;
  return `${renderTable(["INSTANCE", "TYPE", "CAPACITY", "ZONE", "PER HOUR", "RAN", "COST"], rows, width)}\n${count}, $${total.toFixed(4)} in all (EC2 by the second; disks and traffic left out)`;
}

/** An object's age as kubectl prints it. */
export function age({ creationTimestamp }: KubernetesObject["metadata"], now: number): string {
  return creationTimestamp === undefined ? "<unknown>" : duration(Math.max(0, Math.floor((now - Date.parse(creationTimestamp)) / 1000)));
}

/** kubectl's short durations: "90s", "5m30s", "45m", "3h5m", "26h", "3d4h". */
export function duration(seconds: number): string {
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  const pair = (big: number, unit: string, rest: number, small: string): string => `${big}${unit}${rest > 0 ? `${rest}${small}` : ""}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return pair(days, "d", hours % 24, "h");
  return `${days}d`;
}
