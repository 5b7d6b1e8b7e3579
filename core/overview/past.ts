import { sentenceOf, titleOf } from "../history/sentence.ts";
import type { HistoryEntry } from "../model/history-entry.ts";
import type { ClusterOverview, CostPoint, PastOverview } from "./types.ts";

/** Entries that tell what was decided and why; the steps between are left to `history`. */
const TOLD: ReadonlySet<HistoryEntry["type"]> = new Set([
  ...(["Planned", "LaunchFailed", "Adopted", "Disrupted", "DisruptionFailed"] as const),
  ...(["Hastened", "Removed", "Collected", "PodsWaited"] as const),
]);

/** Events that a page lists; the command `history` has all. */
const MAX_EVENTS = 500;

/** A time that a machine ran, at its price. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly perHour: number;
  readonly onDemandPerHour: number;
}

const HOUR_MS = 3_600_000;

/**
 * What happened since a time (ms), from the history and from the nodes that run now. A machine counts from its launch
 * to the end of its NodeClaim; machines whose end was not kept are missing.
 */
export function pastOverview(entries: readonly HistoryEntry[], now: ClusterOverview, since: number): PastOverview {
  const runs = [...endedRuns(entries), ...presentRuns(now)].flatMap((run): readonly Run[] => {
    const [from, to] = [Math.max(since, run.from), Math.min(now.at, run.to)];
    return to > from ? [{ ...run, from, to }] : [];
  });
  const sum = (priceOf: (run: Run) => number): number =>
    runs.reduce((total, run) => total + (priceOf(run) * (run.to - run.from)) / HOUR_MS, 0);
  const events = entries.filter(({ type, at }) => TOLD.has(type) && at >= since);
  return {
    since,
    dollars: sum(({ perHour }) => perHour),
    onDemandDollars: sum(({ onDemandPerHour }) => onDemandPerHour),
    consolidationSavesPerHour: events.reduce(
      (total, one) => total + (one.type === "Disrupted" && one.reason !== "Drifted" ? one.savesPerHour : 0),
      0,
    ),
    costs: pointsOf(runs, since, now.at),
    events: events
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MAX_EVENTS)
      .map((entry) => ({ at: entry.at, kind: entry.type, title: titleOf(entry), text: sentenceOf(entry) })),
  };
}

function endedRuns(entries: readonly HistoryEntry[]): readonly Run[] {
  return entries.flatMap((entry): readonly Run[] => {
    if (entry.type !== "Removed" || entry.machine === undefined || entry.launchedAt === undefined) return [];
    const { pricePerHour = 0, onDemandPerHour = pricePerHour } = entry.machine;
    return [{ from: entry.launchedAt, to: entry.at, perHour: pricePerHour, onDemandPerHour }];
  });
}

function presentRuns({ nodes, at }: ClusterOverview): readonly Run[] {
  const ours = nodes.filter(({ fate }) => fate.verdict !== "other");
  return ours.map(({ createdAt, pricePerHour, onDemandPerHour }) => ({ from: createdAt, to: at, perHour: pricePerHour, onDemandPerHour }));
}

/** The sum of all prices at each time at which a machine comes or goes. */
function pointsOf(runs: readonly Run[], since: number, until: number): readonly CostPoint[] {
  const steps = runs.flatMap(({ from, to, perHour, onDemandPerHour }) => [
    { at: from, perHour, onDemandPerHour },
    // What runs until now has not ended.
    ...(to < until ? [{ at: to, perHour: -perHour, onDemandPerHour: -onDemandPerHour }] : []),
  ]);
  const points: CostPoint[] = [];
  let [perHour, onDemandPerHour] = [0, 0];
  for (const step of [{ at: since, perHour: 0, onDemandPerHour: 0 }, ...steps].sort((a, b) => a.at - b.at)) {
    perHour += step.perHour;
    onDemandPerHour += step.onDemandPerHour;
    if (points.at(-1)?.at === step.at) points.pop();
    points.push({ at: step.at, perHour: settled(perHour), onDemandPerHour: settled(onDemandPerHour) });
  }
  return points;
}

/** Without the last digits in which sums of floats differ. */
const settled = (sum: number): number => Math.max(0, Math.round(sum * 1e9) / 1e9);
