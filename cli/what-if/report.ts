import { perHour } from "#core/disruption/prices/money.ts";
import { stepText } from "#core/insight/overview/steps.ts";
import type { Course } from "#core/insight/what-if/rehearse.ts";
import type { ChangedOutcome, WhatIf, WhatIfOutcome } from "#core/insight/what-if/what-if.ts";
import { span } from "#core/lib/duration.ts";
import { rfc3339 } from "#core/model/conditions.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { wrapped } from "#terminal/columns.ts";
import { billTable, dollars } from "./table.ts";

/** All that a report shows. */
export interface Report {
  /** "file prod.json.gz". */
  readonly source: string;
  /** Time of the snapshot, ms. */
  readonly now: number;
  /** A line for each thing that is changed. */
  readonly texts: readonly string[];
  readonly warnings: readonly string[];
  readonly answer: WhatIf;
  readonly fromScratch?: { readonly nodes: number; readonly pricePerHour: number };
}

/** How many steps, and reasons for which nodes stay, the report shows. */
const MAX_STEPS = 12;
const MAX_REASONS = 12;

/**
 * The answer as text for a terminal: the bills side by side, what the change saves or costs, the steps, and what stands
 * in their way.
 */
export function reportTable(report: Report): string {
  const { answer, texts, source, now } = report;
  const { today, unchanged, changed } = answer;
  const final = changed ?? unchanged;
  const sections = [
    [
      ...wrapped(`${source}, ${rfc3339(now)}: ${counted(today.nodes, "node")}, ${perHour(today.pricePerHour)}`),
      ...texts.flatMap((text) => wrapped(`what if ${text}`, 0)),
    ],
    billTable(answer),
    summary(report),
    stepLines(final.course, now, changed === undefined ? "WHAT DISRUPTION DOES" : "WHAT HAPPENS WITH THE CHANGE"),
    driftLines(changed),
    strandedLines(changed),
    stayLines(final.course),
    warningLines(report, final),
    wrapped(
      "Nothing was changed. Machines are taken to be up in 60 s and drained in 30 s; pods neither come nor go, no capacity is short.",
    ),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** "saves $0.1234/h, $90 a month (12%)". */
function difference(from: number, to: number): string {
  const less = from - to;
  if (Math.abs(less) < 1e-6) return "costs the same";
  const percent = from > 0 ? ` (${Math.round((Math.abs(less) / from) * 100)}%)` : "";
  return `${less > 0 ? "saves" : "costs"} ${perHour(Math.abs(less))}${less > 0 ? "" : " more"}, ${dollars(Math.abs(less) * HOURS_A_MONTH)} a month${percent}`;
}

function summary({ answer, now, fromScratch }: Report): readonly string[] {
  const { today, unchanged, changed } = answer;
  const against = ({ course, bill }: WhatIfOutcome): string =>
    course.steps.length === 0
      ? "nothing happens"
      : `${courseText(course, now)}; ${difference(today.pricePerHour, bill.pricePerHour)} against today`;
  const lines = changed
    ? [
        ...wrapped(`the change ${difference(unchanged.bill.pricePerHour, changed.bill.pricePerHour)}, beside what happens anyway`),
        ...besides("left alone", against(unchanged)),
        ...besides("changed", against(changed)),
      ]
    : besides("disruption", against(unchanged));
  if (fromScratch === undefined) return lines;
  const { nodes, pricePerHour } = fromScratch;
  return [
    ...lines,
    ...besides(
      "from scratch",
      `${counted(nodes, "node")}, ${perHour(pricePerHour)}, if all were launched now${changed ? " under the change" : ""}`,
    ),
  ];
}

/** "label:        text", the text wrapped beside the label. */
function besides(label: string, text: string): readonly string[] {
  const indent = 14;
  const [first = "", ...others] = wrapped(text, indent);
  return [`${label}:`.padEnd(indent) + first.trimStart(), ...others];
}

function courseText({ steps, podsMoved, settledAt, outcome }: Course, now: number): string {
  const commands = steps.filter(({ kind }) => kind === "disruption").length;
  const when = outcome === "settled" ? `settled after ${span(settledAt - now)}` : `after ${span(settledAt - now)} not settled yet`;
  return `${counted(commands, "disruption")}, ${counted(podsMoved, "pod")} moved, ${when}`;
}

function stepLines({ steps }: Course, now: number, title: string): readonly string[] {
  if (steps.length === 0) return [];
  const shown = steps.slice(0, MAX_STEPS).flatMap((step) => {
    const [first = "", ...others] = wrapped(stepText(step), 10);
    return [`  ${`+${span(step.at - now)}`.padEnd(8)}${first.trimStart()}`, ...others];
  });
  const more = steps.length - MAX_STEPS;
  return [title, ...shown, ...(more > 0 ? [`  and ${counted(more, "more step")}; --format json lists all`] : [])];
}

function driftLines(changed: ChangedOutcome | undefined): readonly string[] {
  if (changed === undefined || changed.drifted.length === 0) return [];
  const groups = Map.groupBy(changed.drifted, ({ nodePool, reason }) => `NodePool ${nodePool}, ${reason}`);
  const lines = [...groups].map(
    ([text, nodes]) =>
      `${text}: ${counted(nodes.length, "node")}: ${listed(
        nodes.map(({ node, nodeClaim }) => node || nodeClaim),
        4,
      )}`,
  );
  return ["DRIFTS WITH THE CHANGE", ...lines.flatMap((line) => wrapped(line, 2))];
}

function strandedLines(changed: ChangedOutcome | undefined): readonly string[] {
  const groups = Map.groupBy(Object.entries(changed?.stranded ?? {}), ([, reason]) => reason);
  if (groups.size === 0) return [];
  const lines = [...groups].slice(0, MAX_REASONS).flatMap(([reason, pods]) => [
    ...wrapped(
      `${counted(pods.length, "pod")}: ${listed(
        pods.map(([pod]) => pod),
        4,
      )}`,
      2,
    ),
    ...reason.split(/; (?=NodePools? )/).flatMap((part) => wrapped(part, 4)),
  ]);
  return ["PODS THAT WOULD FIND NO PLACE ELSEWHERE", ...lines];
}

function stayLines({ last, end }: Course): readonly string[] {
  const going = new Set(end.nodeClaims.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.name] : [])));
  const staying = last.blocked.filter(({ nodeClaim }) => !going.has(nodeClaim));
  const groups = [...Map.groupBy(staying, ({ message }) => message)].sort(([, a], [, b]) => b.length - a.length);
  if (groups.length === 0) return [];
  const lines = groups.slice(0, MAX_REASONS).flatMap(([message, nodes]) =>
    wrapped(
      `${counted(nodes.length, "node")}: ${listed(
        nodes.map(({ node, nodeClaim }) => node || nodeClaim),
        3,
      )}: ${message}`,
      2,
    ),
  );
  const more = groups.length - MAX_REASONS;
  return ["WHY NODES STAY", ...lines, ...(more > 0 ? [`  and ${counted(more, "more reason")}; --format json lists all`] : [])];
}

function warningLines({ warnings, answer }: Report, { course, bill }: WhatIfOutcome): readonly string[] {
  const { unpriced } = answer.today;
  const left = Object.entries(course.podErrors);
  const lines = [
    ...warnings,
    ...(unpriced.length > 0
      ? [`${counted(unpriced.length, "node")} of types that are not offered count as $0: ${listed(unpriced, 4)}`]
      : []),
    ...(bill.unpriced.length > unpriced.length
      ? [`at the end ${counted(bill.unpriced.length, "node")} count as $0: ${listed(bill.unpriced, 4)}`]
      : []),
    ...(course.stuck.length > 0
      ? [
          `${counted(course.stuck.length, "node")} cannot be drained, since pods or their PodDisruptionBudgets hold them for ever: ${listed(course.stuck, 4)}`,
        ]
      : []),
    ...(course.outcome === "waiting" ? ["not settled: budgets or consolidateAfter let more be done later than --days looks ahead"] : []),
    ...(course.outcome === "unsettled"
      ? ["not settled: there were more decisions than --decisions allows; what is left to be saved does not show"]
      : []),
    ...left.slice(0, MAX_REASONS).map(([pod, reason]) => `pod ${pod} waits: ${reason}`),
    ...(left.length > MAX_REASONS ? [`${counted(left.length - MAX_REASONS, "more pod")} wait; --format json lists all`] : []),
  ];
  return lines.length === 0 ? [] : ["MIND", ...lines.flatMap((line) => wrapped(line, 2))];
}
