import { START } from "../story.ts";
import type { Course } from "./course.ts";
import type { Day } from "./ledger.ts";

const DAY_MS = 86_400_000;
const dollars = (usd: number): string => usd.toFixed(2);

const HEADER = [
  "day",
  "nodes",
  "launched",
  "emptied",
  "removed",
  "replaced",
  "pods moved",
  "other moves",
  "spent $",
  "saved $",
  "$ a move",
];

/** Rows with all columns aligned to the right except the first. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "));
}

const sum = (days: readonly Day[], of: (day: Day) => number): number => days.reduce((total, day) => total + of(day), 0);

interface Cells {
  readonly name: string;
  readonly nodes: string;
  readonly days: readonly Day[];
  /** USD of the same days without consolidation. */
  readonly unsaved: number | undefined;
}

function row({ name, nodes, days, unsaved }: Cells): readonly string[] {
  const [spent, moved] = [sum(days, (d) => d.spent), sum(days, (d) => d.moved)];
  const saved = unsaved === undefined ? undefined : unsaved - spent;
  const counts = [(d: Day) => d.launched, (d: Day) => d.emptied, (d: Day) => d.removed, (d: Day) => d.replaced, (d: Day) => d.moved];
  return [
    ...[name, nodes, ...counts.map((of) => String(sum(days, of))), String(sum(days, (d) => d.movedOtherwise)), dollars(spent)],
    saved === undefined ? "" : dollars(saved),
    saved === undefined || moved === 0 ? "" : (saved / moved).toFixed(3),
  ];
}

/** A table with one line a day and one line for the sum; savings are relative to the same days of `baseline`. */
export function renderCourse({ name, days, violations, faults, kills }: Course, baseline: Course | undefined): readonly string[] {
  const spentOn = (day: number): number | undefined => baseline?.days[day]?.spent;
  const each = days.map((day, i) =>
    row({
      name: new Date(START + i * DAY_MS).toUTCString().slice(0, 7),
      nodes: `${Number.isFinite(day.fewestNodes) ? day.fewestNodes : 0}-${day.mostNodes}`,
      days: [day],
      unsaved: spentOn(i),
    }),
  );
  const all =
    baseline && days.every((_, i) => spentOn(i) !== undefined) ? sum(baseline.days.slice(0, days.length), (d) => d.spent) : undefined;
  const trouble = faults > 0 ? `, faults ${faults - kills}, kills ${kills}` : "";
  return [
    `${name}: violations ${violations.length}${trouble}`,
    ...aligned([HEADER, ...each, row({ name: "all", nodes: "", days, unsaved: all })]),
    ...violations.map((violation) => `BROKEN ${violation}`),
  ];
}
