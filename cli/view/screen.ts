import { wrap } from "../../core/lib/wrap.ts";
import { HOURS_A_MONTH } from "../../core/model/prices.ts";
import type { ClusterOverview, NodeOverview, ViewIndex } from "../../core/overview/types.ts";
import { counted } from "../../core/scheduling/reasons/words.ts";
import { bar } from "../bars.ts";

/** The sections of the terminal, in the order of their keys 1 to 5. */
export const SECTIONS = ["nodes", "waiting", "on their way", "pools", "disruption"] as const;

/** What the terminal shows. */
export interface Screen {
  readonly section: (typeof SECTIONS)[number];
  /** Index of the cluster. */
  readonly cluster: number;
  /** The first line of the section that is shown. */
  readonly top: number;
  /** Lines of nodes and pods that hold it. */
  readonly query: string;
  /** The query is being typed. */
  readonly isTyping: boolean;
}

/** Control characters and those that turn the direction of writing would move the cursor: names may hold any text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** A screen as it is drawn. */
export interface Drawn {
  /** None is wider, and they are not more, than the terminal has. */
  readonly lines: readonly string[];
  /** The first line of the section that is shown: not past the end. */
  readonly top: number;
}

/** Lays a screen out. `overview` is undefined until the cluster is read. */
export function drawnScreen(
  index: ViewIndex,
  overview: ClusterOverview | undefined,
  screen: Screen,
  { width, height }: { readonly width: number; readonly height: number },
): Drawn {
  const scene = index.scenes[screen.cluster];
  const head = [
    `${scene?.name ?? index.title}${index.scenes.length > 1 ? `  (${screen.cluster + 1} of ${index.scenes.length}; c shows the next)` : ""}`,
    ...(scene?.problem === undefined ? [] : [`! ${scene.problem}`]),
    ...(overview === undefined ? ["reading …"] : headline(overview)),
    SECTIONS.map((name, i) => `${i + 1} ${name === screen.section ? `[${name}]` : ` ${name} `}`).join(" "),
    "",
  ];
  const body = overview === undefined ? [] : sectionLines(overview, screen, width);
  const room = Math.max(1, height - head.length - 1);
  const top = Math.min(screen.top, Math.max(0, body.length - room));
  const shown = body.slice(top, top + room);
  const place = body.length > room ? `${top + 1}-${top + shown.length} of ${body.length}  ` : "";
  const foot = screen.isTyping
    ? `/${screen.query}▏ (Enter keeps it, Esc clears it)`
    : `${place}${screen.query === "" ? "" : `/${screen.query}  `}1-5 or Tab: section  ↑↓: scroll  /: search  q: end`;
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => "");
  return { lines: [...head, ...shown, ...blank, foot].map((line) => cut(line, width)).slice(0, height), top };
}

function cut(line: string, width: number): string {
  const plain = line.replaceAll(UNPRINTABLE, " ");
  return plain.length <= width ? plain : `${plain.slice(0, Math.max(0, width - 1))}…`;
}

const dollars = (perHour: number): string => `$${perHour.toFixed(perHour >= 10 ? 2 : 4)}/h`;

function headline({ cost, nodes, pods, claims, remarks }: ClusterOverview): readonly string[] {
  const saved = cost.onDemandPerHour - cost.perHour;
  const less = saved > 0.00005 ? `, ${Math.round((100 * saved) / cost.onDemandPerHour)}% below on demand` : "";
  return [
    `${dollars(cost.perHour)} ($${Math.round(cost.perHour * HOURS_A_MONTH)} a month${less})   ${counted(nodes.length, "node")}   ${counted(pods.total, "pod")}, ${pods.waiting} waiting   ${claims.length} on their way`,
    ...remarks.map((remark) => `note: ${remark}`),
  ];
}

function sectionLines(overview: ClusterOverview, { section, query }: Screen, width: number): readonly string[] {
  switch (section) {
    case "nodes":
      return nodeLines(overview, query, width);
    case "waiting":
      return waitingLines(overview, query, width);
    case "on their way":
      return claimLines(overview, width);
    case "pools":
      return poolLines(overview);
    case "disruption":
      return disruptionLines(overview, width);
  }
}

/** Rows of cells as columns: numbers, which `right` names, end at the right. */
function table(rows: readonly (readonly string[])[], right: ReadonlySet<number>): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const pad = (cell: string, column: number): string =>
    right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

/** Characters of a bar; on a narrow terminal names need the room. */
const barWidth = (width: number): number => (width >= 140 ? 20 : width >= 110 ? 12 : 6);

function nodeLines({ nodes, at }: ClusterOverview, query: string, width: number): readonly string[] {
  const length = barWidth(width);
  const use = (node: NodeOverview, name: string): string => {
    const { requested = 0, allocatable = 0 } = node.room.find((room) => room.name === name) ?? {};
    const share = allocatable === 0 ? 0 : requested / allocatable;
    return `${bar(share, length)} ${`${Math.round(share * 100)}%`.padStart(4)}`;
  };
  const found = nodes
    .filter((node) =>
      holds(
        [node.name, node.nodePool, node.instanceType, node.capacityType, node.zone, node.state, node.fate.verdict, node.fate.text],
        query,
      ),
    )
    .sort((a, b) => b.pricePerHour - a.pricePerHour || (a.name < b.name ? -1 : 1));
  if (found.length === 0) return [nodes.length === 0 ? "There are no nodes." : `No node holds "${query}".`];
  const rows = found.map((node) => [
    node.name,
    use(node, "cpu"),
    use(node, "memory"),
    String(node.pods),
    node.instanceType,
    node.capacityType,
    node.zone,
    node.nodePool,
    age(at - node.createdAt),
    node.pricePerHour === 0 ? "–" : `$${node.pricePerHour.toFixed(4)}`,
    node.state === "ready" ? node.fate.verdict : node.state,
    node.fate.text,
  ]);
  return table(
    [["NODE", "CPU", "MEMORY", "PODS", "TYPE", "CAPACITY", "ZONE", "NODEPOOL", "AGE", "$/H", "FATE", "WHY"], ...rows],
    new Set([3, 8, 9]),
  );
}

/** Whether all words of a query are in the texts. */
function holds(texts: readonly string[], query: string): boolean {
  const all = texts.join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

const indented = (text: string, width: number): readonly string[] => wrap(text.replaceAll(UNPRINTABLE, " "), Math.max(20, width - 2), 2);

/** Pods that a group names. */
const MAX_NAMED = 5;

function waitingLines({ waiting, at }: ClusterOverview, query: string, width: number): readonly string[] {
  const groups = waiting.filter(({ text, pods }) => holds([text, ...pods.map(({ namespace, name }) => `${namespace}/${name}`)], query));
  if (groups.length === 0) return ["No pod waits for a node."];
  return groups.flatMap(({ state, text, pods }) => {
    const names = pods.slice(0, MAX_NAMED).map(({ namespace, name }) => `${namespace}/${name}`);
    const more = pods.length > MAX_NAMED ? [`${pods.length - MAX_NAMED} more`] : [];
    const oldest = Math.min(...pods.map(({ createdAt }) => createdAt));
    return [
      `${counted(pods.length, "pod")} (${state}), the oldest for ${age(at - oldest)}: ${[...names, ...more].join(", ")}`,
      ...indented(text, width),
      "",
    ];
  });
}

function claimLines({ claims, stepTimes, at }: ClusterOverview, width: number): readonly string[] {
  const usual = stepTimes.map(({ step, medianMs }) => `${step} after ${age(medianMs)}`).join(", ");
  const lines = claims.flatMap(({ name, nodePool, step, since, instanceType, capacityType, zone, pods, usualMs, problem }) => {
    const left =
      usualMs === undefined
        ? ""
        : `; usually ready ${since + usualMs > at ? `in ${age(since + usualMs - at)}` : `${age(at - since - usualMs)} ago`}`;
    const machine = [instanceType, capacityType, zone].filter((word) => word !== "").join(" ");
    return [
      `${name}  NodePool ${nodePool}  ${machine}  ${counted(pods, "pod")}  ${step} ${age(at - since)} ago${left}`,
      ...(problem === undefined ? [] : indented(problem, width)),
    ];
  });
  return [
    ...(lines.length === 0 ? ["No NodeClaim is on its way."] : lines),
    ...(usual === "" ? [] : ["", `Here a NodeClaim usually is ${usual}.`]),
  ];
}

function poolLines({ nodePools }: ClusterOverview): readonly string[] {
  if (nodePools.length === 0) return ["There is no NodePool."];
  const number = (n: number | null): string => (n === null ? "any" : String(n));
  const rows = nodePools.map(({ name, nodes, cost, usage, budgets, problem }) => {
    const cpu = usage.find((one) => one.name === "cpu");
    const allowed = budgets.map(({ reason, allowed: left }) => `${reason} ${number(left)}`).join(", ");
    return [
      ...[name, String(nodes), dollars(cost.perHour), dollars(cost.onDemandPerHour)],
      `${Math.round((cpu?.used ?? 0) * 10) / 10}${cpu?.limit == null ? "" : ` of ${cpu.limit}`}`,
      ...[allowed, problem ?? "ready"],
    ];
  });
  return table([["NODEPOOL", "NODES", "COST", "ON DEMAND", "CPU", "MAY BE DISRUPTED NOW", "STATE"], ...rows], new Set([1, 2, 3, 4]));
}

function disruptionLines({ commands, nodes }: ClusterOverview, width: number): readonly string[] {
  const done = commands.flatMap(({ phase, reason, text }) => [`${reason} (${phase})`, ...indented(text, width)]);
  const groups = [...Map.groupBy(nodes, ({ fate }) => `${fate.verdict}: ${fate.text}`)].sort(([, a], [, b]) => b.length - a.length);
  const stays = groups.flatMap(([text, list]) => {
    const names = list.slice(0, MAX_NAMED).map(({ name }) => name);
    const more = list.length > MAX_NAMED ? [`${list.length - MAX_NAMED} more`] : [];
    return [`${counted(list.length, "node")}: ${[...names, ...more].join(", ")}`, ...indented(text, width)];
  });
  return [...(done.length === 0 ? ["No command is under way, and the next pass would decide none."] : done), "", ...stays];
}

/** "45s", "12m", "3h", "9d"; "?" for what is not known. */
function age(ms: number): string {
  if (!Number.isFinite(ms)) return "?";
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
