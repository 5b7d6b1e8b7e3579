import type { HistoryEntry } from "../../model/history-entry.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import { type Life, livesOf, reportOf } from "../history/report.ts";
import { sentenceOf, titleOf } from "../history/sentence.ts";
import type { CostPoint, PastEvent, PastOverview, PastPool } from "./types.ts";

/** Entries of what was decided and why; the steps between are left to `history`. */
const TOLD: ReadonlySet<HistoryEntry["type"]> = new Set([
  ...(["Planned", "LaunchFailed", "Adopted", "Disrupted", "DisruptionFailed"] as const),
  ...(["Terminating", "Hastened", "Removed", "Collected", "PodsWaited", "PodsNominated"] as const),
  ...(["Paused", "Resumed", "CircuitOpened", "CircuitClosed"] as const),
]);

/** Events that a page lists; the command `history` has all. */
const MAX_EVENTS = 500;
/** Points of a line; a screen has not more columns. */
const MAX_POINTS = 1_000;

interface PastInput {
  readonly cluster: string;
  /** From `since` on. */
  readonly entries: readonly HistoryEntry[];
  /** Of the machines that run now. */
  readonly records: readonly NodeClaimRecord[];
  /** ms. */
  readonly since: number;
  readonly until: number;
}

/**
 * What happened in a time, from the history and from the machines that run now. The dollars are those of the command
 * `report`: the hours of each machine, from its launch to the end of its NodeClaim, at its price at launch.
 */
export function pastOverview({ cluster, entries, records, since, until }: PastInput): PastOverview {
  const { rows, total, savedBySpot, savedByConsolidation, disruptions, launched, ended, interruptions } = reportOf({
    ...{ cluster, since, until, entries, records },
  });
  const consolidations = ["Empty", "Underutilized"].flatMap((reason) => disruptions[reason] ?? []);
  const told = entries.filter(({ type, at }) => TOLD.has(type) && at >= since && at < until);
  return {
    ...{ since, until, dollars: total.dollars, onDemandDollars: total.onDemandDollars, savedBySpot, savedByConsolidation },
    consolidationSavesPerHour: consolidations.reduce((sum, { savesPerHour }) => sum + savesPerHour, 0),
    consolidations: consolidations.reduce((sum, { commands }) => sum + commands, 0),
    ...{ launched, ended, interruptions },
    pools: poolsOf(rows),
    costs: pointsOf(livesOf(entries, records, until), since, until),
    events: told
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MAX_EVENTS)
      .map(pastEvent),
    moreEvents: Math.max(0, told.length - MAX_EVENTS),
  };
}

/** An entry as a page lists it. */
export const pastEvent = (entry: HistoryEntry): PastEvent => ({
  ...{ at: entry.at, kind: entry.type, title: titleOf(entry), text: sentenceOf(entry) },
});

/** By NodePool, the most expensive first. */
function poolsOf(rows: readonly PastPool[]): readonly PastPool[] {
  const sum = (group: readonly PastPool[], field: "nodeHours" | "dollars" | "onDemandDollars"): number =>
    group.reduce((total, row) => total + row[field], 0);
  return [...Map.groupBy(rows, ({ nodePool }) => nodePool)]
    .map(([nodePool, group]) => ({
      ...{ nodePool, nodeHours: sum(group, "nodeHours") },
      ...{ dollars: sum(group, "dollars"), onDemandDollars: sum(group, "onDemandDollars") },
    }))
    .sort((a, b) => b.dollars - a.dollars || (a.nodePool < b.nodePool ? -1 : 1));
}

/** The sum of all prices at each time at which a machine comes or goes. */
function pointsOf(lives: readonly Life[], since: number, until: number): readonly CostPoint[] {
  const steps = lives.flatMap(({ from, to, machine }) => {
    const [begin, end] = [Math.max(since, from), Math.min(until, to)];
    const { pricePerHour: perHour = 0, onDemandPerHour = perHour } = machine;
    if (end <= begin) return [];
    return [
      { at: begin, perHour, onDemandPerHour },
      // What runs until now has not ended.
      ...(end < until ? [{ at: end, perHour: -perHour, onDemandPerHour: -onDemandPerHour }] : []),
    ];
  });
  const points: CostPoint[] = [];
  let [perHour, onDemandPerHour] = [0, 0];
  for (const step of [{ at: since, perHour: 0, onDemandPerHour: 0 }, ...steps].sort((a, b) => a.at - b.at)) {
    perHour += step.perHour;
    onDemandPerHour += step.onDemandPerHour;
    if (points.at(-1)?.at === step.at) points.pop();
    points.push({ at: step.at, perHour: settled(perHour), onDemandPerHour: settled(onDemandPerHour) });
  }
  // A cluster that is younger than the time begins with its first machine.
  const first = points.findIndex((point) => point.perHour > 0);
  const known = points.slice(Math.max(0, first));
  if (known.length <= MAX_POINTS) return known;
  // The last price of each step of time, because the line holds a price until the next point.
  const slot = (at: number): number => Math.floor(((at - since) / (until - since)) * MAX_POINTS);
  return known.filter(({ at }, i) => slot(at) !== slot(known[i + 1]?.at ?? Number.POSITIVE_INFINITY));
}

/** Without the last digits in which sums of floats differ. */
const settled = (sum: number): number => Math.max(0, Math.round(sum * 1e9) / 1e9);
