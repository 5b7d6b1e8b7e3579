import { wrap } from "#core/lib/wrap.ts";
import { type Course, secondsOf } from "./courses/course.ts";
import type { ActFigures } from "./figures.ts";
import type { Pair, Summary } from "./summary.ts";
import { FIGURE_NAMES, type Finding, findingsOf, isFault, TOLERANCES } from "./verdict.ts";

// Texts of the results: for the terminal and for docs/versus.md.

/** Start of a cluster and of an autoscaler, s. */
const START_SECONDS = 15;

/** Minutes of courses for both autoscalers. */
export const minutesOf = (courses: readonly Course[]): number =>
  courses.reduce((sum, course) => sum + (2 * (secondsOf(course) + START_SECONDS)) / 60, 0);

export function courseList(courses: readonly Course[]): string {
  const line = (name: string, mark: string, of: readonly Course[]): string =>
    `${name.padEnd(18)} ${mark} ${minutesOf(of).toFixed(1).padStart(5)}`;
  return [
    "minutes for both autoscalers on a quiet machine; q: in --quick",
    ...courses.map((course) => `${line(course.name, course.quick ? "q" : " ", [course])}  ${course.about}`),
    line(
      "--quick",
      " ",
      courses.filter(({ quick }) => quick),
    ),
    line(
      "all but large",
      " ",
      courses.filter(({ large }) => !large),
    ),
  ].join("\n");
}

/** Columns of docs/versus.md, tables left out. */
const DOCUMENT_WIDTH = 120;

const fixed = (digits: number) => (value: number | undefined) => value?.toFixed(digits) ?? "–";
const [whole, one, four] = [fixed(0), fixed(1), fixed(4)];

const sumOf = (ns: readonly number[]): number => ns.reduce((a, b) => a + b, 0);

type Cell = (summary: Summary) => string;

/** Figures of a course in one line: acts are joined by a slash. */
const OVERVIEW: readonly (readonly [title: string, cell: Cell])[] = [
  ["s to Running", ({ acts }) => acts.map(({ running }) => whole(running)).join("/")],
  ["launched", ({ acts }) => acts.map(({ launched }) => whole(launched)).join("/")],
  ["at rest", ({ acts }) => acts.map(({ atRest }) => whole(atRest)).join("/")],
  ["$/h at rest", ({ acts }) => acts.map(({ usdPerHour }) => usdPerHour.toFixed(3)).join("/")],
  ["cents", ({ cents }) => cents.toFixed(2)],
  ["evicted", ({ acts }) => acts.map(({ evicted }) => whole(evicted)).join("/")],
  ["API requests", ({ kube }) => whole(kube)],
];

const verdictOf = (findings: readonly Finding[] | undefined): string => {
  if (findings === undefined) return "not compared";
  if (findings.length === 0) return "not worse";
  return findings.some(isFault) ? "worse" : "worse, explained";
};

interface Line {
  readonly course: Course;
  readonly pair: Pair;
  readonly findings: readonly Finding[] | undefined;
}

const linesOf = (courses: readonly Course[], pairs: readonly Pair[]): readonly Line[] =>
  courses.flatMap((course) => {
    const pair = pairs.find((found) => found.course === course.name);
    return pair === undefined ? [] : [{ course, pair, findings: findingsOf(course, pair) }];
  });

/** Two lines a course, then the findings. */
export function terminalTable(courses: readonly Course[], pairs: readonly Pair[]): string {
  const rows = linesOf(courses, pairs).flatMap(({ course, pair, findings }) =>
    [pair.karpenter, pair.product].flatMap((summary) =>
      summary === undefined
        ? []
        : [
            [
              course.name,
              summary.autoscaler,
              ...OVERVIEW.map(([, cell]) => cell(summary)),
              summary.autoscaler === "product" ? verdictOf(findings) : "",
            ],
          ],
    ),
  );
  const table = [["course", "", ...OVERVIEW.map(([title]) => title), ""], ...rows];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? [];
  const text = table.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const worse = linesOf(courses, pairs).flatMap(({ course, findings = [] }) =>
    findings.map((finding) => `worse: ${course.name}${wordFinding(finding)}`),
  );
  return [...text, ...worse].join("\n");
}

/** ", act half: machines at rest 3, Karpenter 2" */
export function wordFinding({ act, figure, karpenter, product, reason }: Finding): string {
  const word = (value: number | undefined): string => (value === undefined ? "never" : String(Number(value.toFixed(4))));
  return `${act === undefined ? "" : `, act ${act}`}: ${figure} ${word(product)}, Karpenter ${word(karpenter)}${reason === undefined ? "" : ` (${reason})`}`;
}

const ACT_ROWS: readonly (readonly [title: string, cell: (act: ActFigures) => string])[] = [
  ["first / last CreateFleet, s", ({ firstFleet, lastFleet }) => `${one(firstFleet)} / ${one(lastFleet)}`],
  ["all pods Running, s", ({ running }) => one(running)],
  ["pods not Running, pod-seconds", ({ waited }) => whole(waited)],
  ["CreateFleet calls", ({ fleets }) => whole(fleets)],
  ["machines launched", ({ launched, launchedTypes }) => `${whole(launched)}${launched > 0 ? `: ${launchedTypes}` : ""}`],
  ["machines at the end", ({ atRest, atRestTypes }) => `${whole(atRest)}${atRest > 0 ? `: ${atRestTypes}` : ""}`],
  ["$ per hour at the end", ({ usdPerHour }) => four(usdPerHour)],
  ["cents", ({ cents }) => cents.toFixed(2)],
  ["pods evicted", ({ evicted }) => whole(evicted)],
];

const COURSE_ROWS: readonly (readonly [title: string, cell: Cell])[] = [
  ["cents over the course", ({ cents }) => cents.toFixed(2)],
  ["EC2 requests", ({ ec2 }) => whole(ec2)],
  ["API server requests", ({ kube }) => whole(kube)],
  ["for each machine launched", ({ kube, acts }) => whole(kube / sumOf(acts.map(({ launched }) => launched)))],
  ["CPU seconds", ({ usage }) => one(usage.cpuSeconds)],
  ["memory at most, MB", ({ usage }) => whole(usage.peakMb)],
  ["invocations; GB-seconds", ({ usage }) => (usage.invocations === undefined ? "" : `${usage.invocations}; ${one(usage.gbSeconds)}`)],
  ["problems", ({ problems }) => problems.join("; ")],
];

/** A line of text in lines of the document's width; rows of tables stay whole, and items of lists are indented. */
function wrapLine(line: string): readonly string[] {
  if (line.length <= DOCUMENT_WIDTH || line.startsWith("|")) return [line];
  const [first = "", ...rest] = wrap(line, DOCUMENT_WIDTH, line.startsWith("- ") ? 2 : 0);
  return [first.trimStart(), ...rest];
}

/** The whole of docs/versus.md. `conditions` says on what the runs were played. */
export function documentOf(courses: readonly Course[], pairs: readonly Pair[], conditions: readonly string[]): string {
  const lines = linesOf(courses, pairs);
  const overview = lines.map(({ course, pair, findings }) => {
    const cells = OVERVIEW.map(([, cell]) => `${pair.karpenter ? cell(pair.karpenter) : "–"} · ${pair.product ? cell(pair.product) : "–"}`);
    return `| [${course.name}](#${course.name}) | ${cells.join(" | ")} | ${verdictOf(findings)} |`;
  });
  return [
    "# Beside Karpenter",
    "",
    "`npm run versus -- --write-docs` writes this page. The real controller of Karpenter and the deployed functions play",
    "the same courses, each in a fresh cluster: a real control plane, a fake EC2 and fake kubelets. Each cell has",
    "Karpenter's figure first, then ours; acts of a course are separated by slashes.",
    "",
    ...conditions.map((condition) => `- ${condition}`),
    ...toleranceLines(),
    "",
    `| course | ${OVERVIEW.map(([title]) => title).join(" | ")} | ours |`,
    `| --- |${" --- |".repeat(OVERVIEW.length + 1)}`,
    ...overview,
    "",
    ...lines.flatMap((line) => [...courseSection(line), ""]),
  ]
    .flatMap(wrapLine)
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function toleranceLines(): readonly string[] {
  const words = Object.entries(TOLERANCES).map(([name, { part, amount }]) => {
    const percent = `${Math.round(part * 100)} %`;
    return `${FIGURE_NAMES[name as keyof typeof TOLERANCES]} ${percent}${amount > 0 ? ` and ${amount}` : ""}`;
  });
  return [
    "- Ours is worse when a figure is above Karpenter's by more than its tolerance:",
    ...words.map((word, i) => `  ${word}${i < words.length - 1 ? "," : "."}`),
    "- More machines count as worse only where they cost no less per hour. Times to Running are compared in acts in which",
    "  pods come, pod-seconds in the others.",
  ];
}

function courseSection({ course, pair, findings = [] }: Line): readonly string[] {
  const summaries = [pair.karpenter, pair.product];
  const row = (title: string, cells: readonly string[]): readonly string[] =>
    cells.every((cell) => cell === "") ? [] : [`| ${title} | ${cells.join(" | ")} |`];
  return [
    `## ${course.name}`,
    "",
    `${course.about}.`,
    "",
    "| | Karpenter | ours |",
    "| --- | --- | --- |",
    ...course.acts.flatMap(({ name, seconds }) => {
      const acts = summaries.map((summary) => summary?.acts.find(({ act }) => act === name));
      const cells = (cell: (act: ActFigures) => string): readonly string[] => acts.map((act) => (act === undefined ? "" : cell(act)));
      return [`| **${name}**, ${seconds} s | | |`, ...ACT_ROWS.flatMap(([title, cell]) => row(title, cells(cell)))];
    }),
    "| **all acts** | | |",
    ...COURSE_ROWS.flatMap(([title, cell]) =>
      row(
        title,
        summaries.map((summary) => (summary === undefined ? "" : cell(summary))),
      ),
    ),
    ...(findings.length > 0 ? ["", ...findings.map((finding) => `- Worse${wordFinding(finding)}.`)] : []),
  ];
}
