import type { ActFigures, AutoscalerName, Run, Usage } from "./figures.ts";

/** A course of one autoscaler: the medians of its runs. */
export interface Summary {
  readonly autoscaler: AutoscalerName;
  readonly runs: number;
  readonly acts: readonly ActFigures[];
  /** Over all acts. */
  readonly cents: number;
  readonly usage: Usage;
  /** Requests of all kinds. */
  readonly ec2: number;
  readonly kube: number;
  readonly problems: readonly string[];
  /** Absent in the data of the page, whose conditions name the range. */
  readonly load?: number | undefined;
}

/** The two autoscalers' summaries of a course; one is absent when it has not been played. */
export interface Pair {
  readonly course: string;
  readonly karpenter?: Summary;
  readonly product?: Summary;
}

/** The courses in the order in which their first runs stand. */
export function pairsOf(runs: readonly Run[]): readonly Pair[] {
  return [...Map.groupBy(runs, ({ course }) => course)].map(([course, found]) => {
    const karpenter = summaryOf(found.filter(({ autoscaler }) => autoscaler === "karpenter"));
    const product = summaryOf(found.filter(({ autoscaler }) => autoscaler === "product"));
    return { course, ...(karpenter && { karpenter }), ...(product && { product }) };
  });
}

function summaryOf(runs: readonly Run[]): Summary | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const of = (value: (run: Run) => number): number => median(runs.map(value));
  const optional = (name: "invocations" | "gbSeconds"): Partial<Usage> =>
    first.usage[name] === undefined ? {} : { [name]: of(({ usage }) => usage[name] ?? 0) };
  return {
    autoscaler: first.autoscaler,
    runs: runs.length,
    acts: first.acts.map((_, i) => medianAct(runs.flatMap(({ acts }) => acts[i] ?? []))),
    cents: of(({ acts }) => acts.reduce((sum, { cents }) => sum + cents, 0)),
    usage: {
      cpuSeconds: of(({ usage }) => usage.cpuSeconds),
      peakMb: of(({ usage }) => usage.peakMb),
      ...optional("invocations"),
      ...optional("gbSeconds"),
    },
    ec2: of(({ ec2 }) => total(ec2)),
    kube: of(({ kube }) => total(kube)),
    problems: [...new Set(runs.flatMap(({ problems }) => problems))],
    load: of(({ load }) => load),
  };
}

const total = (tally: Readonly<Record<string, number>>): number => Object.values(tally).reduce((sum, n) => sum + n, 0);

const OPTIONAL = ["firstFleet", "lastFleet", "running"] as const;
const ALWAYS = ["waited", "fleets", "launched", "atRest", "usdPerHour", "cents", "evicted"] as const;

/** Each figure's own median; an absent figure counts as later than all others. Types are those of the first run. */
function medianAct(runs: readonly ActFigures[]): ActFigures {
  const [first] = runs;
  if (first === undefined) throw new Error("An act without figures: the runs of this course have different acts.");
  const medians = ALWAYS.map((name) => [name, median(runs.map((figures) => figures[name]))] as const);
  const times = OPTIONAL.map((name) => [name, median(runs.map((figures) => figures[name] ?? Number.POSITIVE_INFINITY))] as const);
  const { act, launchedTypes, atRestTypes } = first;
  return {
    ...{ act, launchedTypes, atRestTypes },
    ...(Object.fromEntries(medians) as Pick<ActFigures, (typeof ALWAYS)[number]>),
    ...(Object.fromEntries(times.filter(([, value]) => Number.isFinite(value))) as Pick<ActFigures, (typeof OPTIONAL)[number]>),
  };
}

/** The middle value, of an even number of values the lower one of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}
