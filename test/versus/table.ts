import { type Course, secondsOf } from "./courses/course.ts";
import type { Pair, Summary } from "./summary.ts";
import { type Finding, findingsOf, isFault } from "./verdict.ts";

// Texts of the results for the terminal.

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

const fixed = (digits: number) => (value: number | undefined) => value?.toFixed(digits) ?? "–";
const whole = fixed(0);

type Cell = (summary: Summary) => string;

/** Figures of a course in one line: acts are joined by a slash. */
export const OVERVIEW: readonly (readonly [title: string, cell: Cell])[] = [
  ["s to Running", ({ acts }) => acts.map(({ running }) => whole(running)).join("/")],
  ["launched", ({ acts }) => acts.map(({ launched }) => whole(launched)).join("/")],
  ["at rest", ({ acts }) => acts.map(({ atRest }) => whole(atRest)).join("/")],
  ["$/h at rest", ({ acts }) => acts.map(({ usdPerHour }) => usdPerHour.toFixed(3)).join("/")],
  ["cents", ({ cents }) => cents.toFixed(2)],
  ["evicted", ({ acts }) => acts.map(({ evicted }) => whole(evicted)).join("/")],
  ["API requests", ({ kube }) => whole(kube)],
];

export const verdictOf = (findings: readonly Finding[] | undefined): string => {
  if (findings === undefined) return "not compared";
  if (findings.length === 0) return "not worse";
  return findings.some(isFault) ? "worse" : "worse, explained";
};

interface Line {
  readonly course: Course;
  readonly pair: Pair;
  readonly findings: readonly Finding[] | undefined;
}

export const linesOf = (courses: readonly Course[], pairs: readonly Pair[]): readonly Line[] =>
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
export function wordFinding({ act, figure, karpenter, product, reason }: Finding, digits = 4): string {
  const word = (value: number | undefined): string => (value === undefined ? "never" : String(Number(value.toFixed(digits))));
  return `${act === undefined ? "" : `, act ${act}`}: ${figure} ${word(product)}, Karpenter ${word(karpenter)}${reason === undefined ? "" : ` (${reason})`}`;
}
