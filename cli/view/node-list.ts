import type { ClusterOverview, NodeOverview } from "#core/insight/overview/types.ts";
import { wrap } from "#core/lib/wrap.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { bar } from "#terminal/bars.ts";
import { age, dollars, plain } from "./words.ts";

/** A column of the table of nodes. */
interface Column {
  readonly title: string;
  readonly of: (node: NodeOverview) => string;
  /** Numbers end at the right. */
  readonly isNumber?: true;
}

/** Characters that the last column needs to say anything. */
const MIN_WHY_WIDTH = 20;
/** Which columns go when the terminal is too narrow, the first first. */
const LEAST = ["WHY", "AGE", "PODS", "ZONE", "CAPACITY", "MEMORY", "NODEPOOL", "TYPE", "CPU"];

/** Nodes that hold all words of a query, the dearest first. */
export function foundNodes({ nodes }: ClusterOverview, query: string): readonly NodeOverview[] {
  return nodes
    .filter((node) => {
      const { name, nodePool, instanceType, capacityType, zone, state, fate } = node;
      return holds([name, nodePool, instanceType, capacityType, zone, state, fate.verdict, fate.text], query);
    })
    .sort((a, b) => b.pricePerHour - a.pricePerHour || (a.name < b.name ? -1 : 1));
}

/** Whether all words of a query are in the texts. */
export function holds(texts: readonly string[], query: string): boolean {
  const all = texts.join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** The head and the lines of a table of nodes, with as many columns as the terminal has room for. */
export function nodeTable(nodes: readonly NodeOverview[], now: number, width: number): readonly string[] {
  const columns = fitting(columnsOf(nodes, now, width), nodes, width);
  const rows = [columns.map(({ title }) => title), ...nodes.map((node) => columns.map(({ of }) => of(node)))];
  return table(rows, new Set(columns.flatMap(({ isNumber }, i) => (isNumber ? [i] : []))));
}

/** Rows of cells as columns: numbers, which `right` names, end at the right. */
export function table(rows: readonly (readonly string[])[], right: ReadonlySet<number>): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const pad = (cell: string, column: number): string =>
    right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

function columnsOf(nodes: readonly NodeOverview[], now: number, width: number): readonly Column[] {
  const domain = width < 140 ? commonDomain(nodes) : "";
  return [
    { title: "NODE", of: ({ name }) => (domain === "" ? name : name.slice(0, -domain.length)) },
    { title: "CPU", of: (node) => used(node, "cpu", width) },
    { title: "MEMORY", of: (node) => used(node, "memory", width) },
    { title: "PODS", of: ({ pods }) => String(pods), isNumber: true },
    { title: "TYPE", of: ({ instanceType }) => instanceType },
    { title: "CAPACITY", of: ({ capacityType }) => capacityType },
    { title: "ZONE", of: ({ zone }) => zone },
    { title: "NODEPOOL", of: ({ nodePool }) => nodePool },
    { title: "AGE", of: ({ createdAt }) => age(now - createdAt), isNumber: true },
    { title: "$/H", of: ({ pricePerHour }) => (pricePerHour === 0 ? "–" : `$${pricePerHour.toFixed(4)}`), isNumber: true },
    { title: "FATE", of: ({ state, fate }) => (state === "ready" ? fate.verdict : state) },
    { title: "WHY", of: ({ fate }) => fate.text },
  ];
}

/** What all names end with after their first dot, as .us-west-2.compute.internal; empty where they differ. */
function commonDomain(nodes: readonly NodeOverview[]): string {
  const domains = new Set(nodes.map(({ name }) => (name.includes(".") ? name.slice(name.indexOf(".")) : "")));
  const [only = ""] = domains;
  return domains.size === 1 ? only : "";
}

/** The columns for which there is room; the last one is cut rather than left out. */
function fitting(columns: readonly Column[], nodes: readonly NodeOverview[], width: number): readonly Column[] {
  const widths = new Map(
    columns.map(({ title, of }) => [
      title,
      title === "WHY" ? MIN_WHY_WIDTH : Math.max(title.length, ...nodes.map((node) => of(node).length)),
    ]),
  );
  const left = new Set(widths.keys());
  const needed = (): number => [...left].reduce((sum, title) => sum + (widths.get(title) ?? 0) + 2, -2);
  for (const title of LEAST) if (needed() > width) left.delete(title);
  return columns.filter(({ title }) => left.has(title));
}

/** Characters of a bar; on a narrow terminal names need the room. */
const barWidth = (width: number): number => (width >= 140 ? 20 : width >= 110 ? 12 : 6);

function used(node: NodeOverview, name: string, width: number): string {
  const { requested = 0, allocatable = 0 } = node.room.find((room) => room.name === name) ?? {};
  const share = allocatable === 0 ? 0 : requested / allocatable;
  return `${bar(share, barWidth(width))} ${`${Math.round(share * 100)}%`.padStart(4)}`;
}

/** All that is known of a node: what it is, how full, why it stays or goes, and what would free it. */
export function nodeDetails(node: NodeOverview, now: number, width: number): readonly string[] {
  const { name, nodeClaim, nodePool, instanceType, capacityType, zone, state, problem, createdAt, fate } = node;
  const said = (text: string, indent = 0): readonly string[] => wrap(plain(text), Math.max(20, width), indent);
  const machine = [instanceType, capacityType, zone].filter((word) => word !== "").join(", ");
  const onDemand = node.onDemandPerHour > node.pricePerHour ? `, ${dollars(node.onDemandPerHour)} on demand` : "";
  const longest = Math.max(...node.room.map((room) => room.name.length), 0);
  return [
    ...said(`node/${name}`),
    ...said(
      [
        machine,
        ...(nodePool === "" ? [] : [`NodePool ${nodePool}`]),
        ...(nodeClaim === "" ? [] : [`NodeClaim ${nodeClaim}`]),
        `${age(now - createdAt)} old`,
      ].join("; "),
    ),
    ...said(`${node.pricePerHour === 0 ? "no price is known" : dollars(node.pricePerHour)}${onDemand}; ${counted(node.pods, "pod")}`),
    ...(state === "ready" ? [] : said(`${state}${problem === undefined ? "" : `: ${problem}`}`)),
    "",
    ...node.room.map((room) => `${room.name.padEnd(longest)}  ${used(node, room.name, width)}`),
    "",
    ...said(`${fate.verdict}: ${fate.text}`),
    ...(fate.remedy === undefined ? [] : said(`What would free it: ${fate.remedy}`)),
    ...fate.details.flatMap((text) => said(text, 2)),
    "",
    ...said(`Why it came and what happened to it: karpenter-serverless why node/${name} --cluster NAME`),
  ];
}
