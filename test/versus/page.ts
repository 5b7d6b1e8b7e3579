import { wrap } from "#core/lib/wrap.ts";
import { conditionsOf } from "./conditions.ts";
import type { Course } from "./courses/course.ts";
import type { Pair } from "./summary.ts";
import { linesOf, OVERVIEW, verdictOf, wordFinding } from "./table.ts";
import { FIGURE_NAMES, type Finding, TOLERANCES } from "./verdict.ts";

// docs/versus.md, and the data that it is made of.

/** docs/data/versus.json. */
export interface VersusData {
  /** On what the runs were played: sentences without a date. */
  readonly conditions: readonly string[];
  readonly pairs: readonly Pair[];
}

/** Digits after the point of a number in the data. */
const DIGITS = 4;
const MAX_WIDTH = 120;

/** The data of runs that were played on a machine with so many cores. */
export const versusData = (pairs: readonly Pair[], cores: number): VersusData => ({
  conditions: conditionsOf(pairs, cores),
  pairs: pairs.map(({ course, karpenter, product }) => ({
    course,
    ...(karpenter && { karpenter: { ...karpenter, load: undefined } }),
    ...(product && { product: { ...product, load: undefined } }),
  })),
});

/** The data as text, one line for each act and rounded, so that a change of one figure is a change of one line. */
export function dataText(data: VersusData): string {
  const rounded = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toFixed(DIGITS)) : value);
  const acts = JSON.stringify(data, rounded, 1).replaceAll(/\{\n +"act":[^{}]*\}/g, (act) => act.replaceAll(/\n */g, " "));
  return `${acts}\n`;
}

/** A line of text in lines of at most MAX_WIDTH columns; rows of tables stay whole, items of lists are indented. */
function wrapLine(line: string): readonly string[] {
  if (line.length <= MAX_WIDTH || line.startsWith("|")) return [line];
  const [first = "", ...rest] = wrap(line, MAX_WIDTH, line.startsWith("- ") ? 2 : 0);
  return [first.trimStart(), ...rest];
}

const INTRODUCTION =
  "The real controller of Karpenter and the deployed functions play the same courses, each in a fresh cluster: a real control plane, a fake EC2 and fake kubelets. Each cell has Karpenter's figure first, then ours; acts of a course are separated by slashes.";

const MADE_BY =
  "`npm run versus -- --write-docs` plays the courses and writes `docs/data/versus.json`, which has each act with its machines, times, requests, CPU seconds and memory, and this page of it. `npm run versus -- --list` names the courses.";

function tolerances(): string {
  const words = Object.entries(TOLERANCES).map(([name, { part, amount }]) => {
    const percent = `${Math.round(part * 100)} %`;
    return `${FIGURE_NAMES[name as keyof typeof TOLERANCES]} ${percent}${amount > 0 ? ` and ${amount}` : ""}`;
  });
  return `- Ours is worse when a figure is above Karpenter's by more than its tolerance: ${words.join(", ")}. More machines count as worse only where they cost no less per hour. Times to Running are compared in acts in which pods come, pod-seconds in the others.`;
}

/** "- waves, act up: machines launched 8, Karpenter 4; … (reason)." Findings of one reason are one item. */
function findingItems(course: Course, findings: readonly Finding[]): readonly string[] {
  return [...Map.groupBy(findings, ({ reason }) => reason)].map(([reason, found]) => {
    const words = found.map(({ reason: _, ...finding }) => wordFinding(finding, 2).replace(/^[,:] /, ""));
    return `- ${course.name}: ${words.join("; ")}${reason === undefined ? "" : ` (${reason})`}.`;
  });
}

/** docs/versus.md. */
export function versusPage(courses: readonly Course[], { conditions, pairs }: VersusData): string {
  const lines = linesOf(courses, pairs);
  const rows = lines.map(({ course, pair, findings }) => {
    const cells = OVERVIEW.map(([, cell]) => `${pair.karpenter ? cell(pair.karpenter) : "–"} · ${pair.product ? cell(pair.product) : "–"}`);
    return `| ${course.name} | ${cells.join(" | ")} | ${verdictOf(findings)} |`;
  });
  const worse = lines.flatMap(({ course, findings = [] }) => findingItems(course, findings));
  return [
    "# Beside Karpenter",
    "",
    INTRODUCTION,
    "",
    ...conditions.map((condition) => `- ${condition}`),
    tolerances(),
    "",
    `| course | ${OVERVIEW.map(([title]) => title).join(" | ")} | ours |`,
    `| --- |${" --- |".repeat(OVERVIEW.length + 1)}`,
    ...rows,
    "",
    ...(worse.length === 0 ? [] : ["## Where ours is worse", "", ...worse, ""]),
    "## The courses",
    "",
    ...lines.map(({ course }) => `- **${course.name}**: ${course.about}.`),
    "",
    MADE_BY,
    "",
  ]
    .flatMap(wrapLine)
    .join("\n");
}
