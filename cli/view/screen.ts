import type { ClusterOverview, ViewIndex } from "#core/insight/overview/types.ts";
import { wrap } from "#core/lib/wrap.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { foundNodes, holds, nodeDetails, nodeTable, table } from "./node-list.ts";
import { age, dollars, plain } from "./words.ts";

/** The sections of the terminal, in the order of their keys 1 to 5. */
export const SECTIONS = ["nodes", "waiting", "on their way", "pools", "disruption"] as const;

/** What the terminal shows. */
export interface Screen {
  readonly section: (typeof SECTIONS)[number];
  /** Index of the cluster. */
  readonly cluster: number;
  /** The first line of the section that is shown. */
  readonly top: number;
  /** Index of the chosen node among those that are found, and its name as it was drawn. */
  readonly at: number;
  readonly chosen: string;
  /** The node whose details are shown in place of the table; empty for none. */
  readonly opened: string;
  /** Lines of nodes and pods that hold it. */
  readonly query: string;
  /** The query is being typed. */
  readonly isTyping: boolean;
}

/** A screen as it is drawn. */
export interface Drawn {
  /** None is wider, and they are not more, than the terminal has. */
  readonly lines: readonly string[];
  /** The first line of the section that is shown, and the chosen node: not past the end. */
  readonly top: number;
  readonly at: number;
  readonly chosen: string;
}

/** What a section shows below its head. */
interface Body {
  /** Stays when the lines scroll. */
  readonly head: readonly string[];
  readonly lines: readonly string[];
  /** The line that must be in sight, and the node that it is of. */
  readonly at?: number;
  readonly chosen?: string;
}

/** Lays a screen out. `overview` is undefined until the cluster is read. */
export function drawnScreen(
  index: ViewIndex,
  overview: ClusterOverview | undefined,
  screen: Screen,
  { width, height }: { readonly width: number; readonly height: number },
): Drawn {
  const scene = index.scenes[screen.cluster];
  const wide = SECTIONS.map((name, i) => `${i + 1} ${name === screen.section ? `[${name}]` : ` ${name} `}`).join(" ");
  const body = overview === undefined ? { head: [], lines: [] } : sectionBody(overview, screen, width);
  const head = [
    `${scene?.name ?? index.title}${index.scenes.length > 1 ? `  (${screen.cluster + 1} of ${index.scenes.length}; c shows the next)` : ""}`,
    ...(scene?.problem === undefined ? [] : wrap(`! ${plain(scene.problem)}`, width)),
    ...(overview === undefined ? ["reading …"] : headline(overview, width)),
    wide.length <= width ? wide : wide.replaceAll(/ {2,}/g, " "),
    "",
    ...body.head,
  ];
  const room = Math.max(1, height - head.length - 1);
  const { at = screen.at, chosen = screen.chosen } = body;
  const wanted = body.at === undefined ? screen.top : Math.min(at, Math.max(screen.top, at - room + 1));
  const top = Math.max(0, Math.min(wanted, body.lines.length - room));
  const shown = body.lines.slice(top, top + room);
  const place = body.lines.length > room ? `${top + 1}-${top + shown.length} of ${body.lines.length}  ` : "";
  const foot = screen.isTyping
    ? `/${screen.query}▏ (Enter keeps it, Esc clears it)`
    : `${place}${screen.query === "" ? "" : `/${screen.query}  `}${keys(screen)}`;
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => "");
  const lines = [...head, ...shown, ...blank, foot].map((line) => cut(line, width)).slice(0, height);
  return { lines, top, at, chosen };
}

/** What the keys do, the most needed first, because a narrow terminal cuts the end. */
const keys = ({ section, opened }: Screen): string =>
  [
    "q: end",
    ...(section === "nodes" ? [opened === "" ? "Enter: why" : "Esc: all nodes"] : []),
    ...["1-5: section", "/: search", "↑↓ Home End: scroll"],
  ].join("  ");

function cut(line: string, width: number): string {
  const text = plain(line);
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function headline({ cost, nodes, pods, claims, remarks }: ClusterOverview, width: number): readonly string[] {
  const saved = cost.onDemandPerHour - cost.perHour;
  const less = saved > 0.00005 ? `, ${Math.round((100 * saved) / cost.onDemandPerHour)}% below on demand` : "";
  const figures = `${dollars(cost.perHour)} ($${Math.round(cost.perHour * HOURS_A_MONTH)} a month${less})   ${counted(nodes.length, "node")}   ${counted(pods.total, "pod")}, ${pods.waiting} waiting   ${claims.length} on their way`;
  return [figures, ...remarks.map((remark) => `note: ${plain(remark)}`)].flatMap((text) => wrap(text, width));
}

function sectionBody(overview: ClusterOverview, screen: Screen, width: number): Body {
  const { section, query } = screen;
  const lines = (of: readonly string[]): Body => ({ head: [], lines: of });
  switch (section) {
    case "nodes":
      return nodesBody(overview, screen, width);
    case "waiting":
      return lines(waitingLines(overview, query, width));
    case "on their way":
      return lines(claimLines(overview, width));
    case "pools":
      return lines(poolLines(overview));
    case "disruption":
      return lines(disruptionLines(overview, width));
  }
}

function nodesBody(overview: ClusterOverview, screen: Screen, width: number): Body {
  const { query, opened } = screen;
  if (opened !== "") {
    const node = overview.nodes.find(({ name }) => name === opened);
    return { head: [], lines: node === undefined ? wrap(`node/${plain(opened)} is gone.`, width) : nodeDetails(node, overview.at, width) };
  }
  const found = foundNodes(overview, query);
  const at = Math.min(screen.at, found.length - 1);
  const node = found[at];
  if (node === undefined) return { head: [], lines: [overview.nodes.length === 0 ? "There are no nodes." : `No node holds "${query}".`] };
  const [head = "", ...rows] = nodeTable(found, overview.at, width - 2);
  return { head: [`  ${head}`], lines: rows.map((row, i) => `${i === at ? "›" : " "} ${row}`), at, chosen: node.name };
}

const indented = (text: string, width: number): readonly string[] => wrap(plain(text), Math.max(20, width), 2);

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
    const cap = usage.find((one) => one.name === "$ an hour")?.limit ?? undefined;
    const allowed = budgets.map(({ reason, allowed: left }) => `${reason} ${number(left)}`).join(", ");
    return [
      ...[name, String(nodes), `${dollars(cost.perHour)}${cap === undefined ? "" : ` of ${dollars(cap)}`}`, dollars(cost.onDemandPerHour)],
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
