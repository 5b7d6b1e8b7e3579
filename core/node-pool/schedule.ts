import { type Cron, nextHit, parseCron } from "../lib/cron.ts";
import { parseDuration, span } from "../lib/duration.ts";
import { LruMap } from "../lib/lru-map.ts";
import { fromWallClock, isTimeZone, toWallClock } from "../lib/time-zone.ts";
import { rfc3339 } from "../model/conditions.ts";
import { SCHEDULE } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";

/**
 * When a NodePool sleeps: the annotation `karpenter-serverless/schedule`.
 *
 *     "0 20 * * 1-5 for 10h"                                  five nights, UTC
 *     "TZ=Europe/Berlin 0 19 * * 1-4 for 11h; 0 19 * * 5 for 59h"   nights and weekends
 *     "never"                                                 although the cluster has a schedule
 */
interface Schedule {
  readonly zone: string;
  /** From each hit of the cron expression on; none for "never". */
  readonly windows: readonly { readonly cron: Cron; readonly lengthMs: number }[];
}

/** Whether a pool sleeps, and when that changes, ms since the epoch. */
export type Sleep =
  | {
      readonly isAsleep: true;
      /** The end of the windows; nodes are made from `until` on, so that they are ready then. */
      readonly morning: number;
      readonly until: number;
    }
  | { readonly isAsleep: false /** Undefined when it never sleeps. */; readonly until: number | undefined };

/** How long before the end of a window nodes are made again: they take one to two minutes to be ready. */
const LEAD_MS = 5 * 60_000;
/** The shortest window, which leaves some sleep before the lead. */
const MIN_LENGTH_MS = 10 * 60_000;
const MAX_LENGTH_MS = 31 * 24 * 60 * 60_000;
const MAX_WINDOWS = 10;
/** Windows in one another's succession that are followed to their end, and hits of one window. */
const MAX_STEPS = 100;
const MAX_HITS = 2_000;

/** Clocks are put forward or back by two hours at most. */
const MAX_CLOCK_CHANGE_MS = 2 * 60 * 60_000;

const MAX_SHOWN = 60;

/** Reads the text of the annotation, or says in one sentence what is wrong with it. */
export function readSchedule(text: string): Schedule | { readonly problem: string } {
  const hint = 'write a cron expression and a duration, such as "0 20 * * 1-5 for 10h"';
  const [, zone = "UTC", rest = ""] = /^\s*(?:TZ=(\S+)\s+)?([\s\S]*)$/.exec(text) ?? [];
  if (rest.trim() === "never") return { zone: "UTC", windows: [] };
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  if (!isTimeZone(zone))
    return { problem: `"${shown}" names the time zone ${zone.slice(0, MAX_SHOWN)}, which is none; write one such as TZ=Europe/Berlin` };
  const parts = rest.split(";");
  if (parts.length > MAX_WINDOWS) return { problem: `"${shown}" has ${parts.length} windows; at most ${MAX_WINDOWS} are read` };
  const windows: { cron: Cron; lengthMs: number }[] = [];
  for (const part of parts) {
    const [, schedule = "", duration = ""] = /^\s*(.+?)\s+for\s+(\S+)\s*$/.exec(part) ?? [];
    const cron = parseCron(schedule);
    const lengthMs = parseDuration(duration);
    if (cron === undefined || lengthMs === undefined) return { problem: `"${shown}" is no schedule; ${hint}` };
    if (nextHit(cron, 0) === undefined) return { problem: `"${shown}" names a day that never occurs; ${hint}` };
    if (lengthMs < MIN_LENGTH_MS || lengthMs > MAX_LENGTH_MS)
      return { problem: `"${shown}" has a window of ${duration}; it must last from ${span(MIN_LENGTH_MS)} to ${span(MAX_LENGTH_MS)}` };
    windows.push({ cron, lengthMs });
  }
  return { zone, windows };
}

/** What is wrong with the annotation of a pool, in one sentence; undefined when nothing is. */
export function scheduleProblem({ metadata }: Pick<NodePool, "metadata">): string | undefined {
  const text = metadata.annotations?.[SCHEDULE];
  const read = text === undefined ? undefined : known(text);
  return read !== undefined && "problem" in read ? `metadata.annotations: ${SCHEDULE} ${read.problem}` : undefined;
}

const MAX_KEPT = 100;
const schedules = new LruMap<string, ReturnType<typeof readSchedule>>(MAX_KEPT);
const answers = new LruMap<string, Sleep>(MAX_KEPT);

function known(text: string): ReturnType<typeof readSchedule> {
  const read = schedules.get(text) ?? readSchedule(text);
  schedules.set(text, read);
  return read;
}

/** Whether a pool sleeps at `now` (ms). One without a schedule, or with one that cannot be read, does not. */
export function sleepOf({ metadata }: Pick<NodePool, "metadata">, now: number): Sleep {
  const text = metadata.annotations?.[SCHEDULE];
  if (text === undefined) return { isAsleep: false, until: undefined };
  const key = `${now} ${text}`;
  const found = answers.get(key);
  if (found !== undefined) return found;
  const read = known(text);
  const sleep: Sleep = "problem" in read ? { isAsleep: false, until: undefined } : sleepAt(read, now);
  answers.set(key, sleep);
  return sleep;
}

export const isAsleep = (pool: Pick<NodePool, "metadata">, now: number): boolean => sleepOf(pool, now).isAsleep;

/** The same for a schedule. */
export function sleepAt({ zone, windows }: Schedule, now: number): Sleep {
  /** When the windows that are open at a time end. */
  const endOf = (time: number): number => Math.max(...windows.map((window) => endOfWindow(window, zone, time)));
  let morning = now;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const end = endOf(morning);
    if (end <= morning) break;
    morning = end;
  }
  const until = morning - LEAD_MS;
  if (morning > now && now < until) return { isAsleep: true, morning, until };
  const starts = windows.flatMap(({ cron }) => nextStart(cron, zone, morning) ?? []);
  return { isAsleep: false, until: starts.length === 0 ? undefined : Math.min(...starts) };
}

/** When the window is over that is open at `time`: the last of its hits counts; `time` where it is closed. */
function endOfWindow({ cron, lengthMs }: Schedule["windows"][number], zone: string, time: number): number {
  let end = time;
  let hit = nextHit(cron, toWallClock(time, zone) - lengthMs - MAX_CLOCK_CHANGE_MS);
  for (let hits = 0; hit !== undefined && hits < MAX_HITS; hits++) {
    if (fromWallClock(hit, zone) > time) break;
    end = Math.max(end, fromWallClock(hit + lengthMs, zone));
    hit = nextHit(cron, hit);
  }
  return end;
}

/** The first hit after `time`, ms since the epoch. A clock that is put back shows times that were over. */
function nextStart(cron: Cron, zone: string, time: number): number | undefined {
  let hit = nextHit(cron, toWallClock(time, zone) - MAX_CLOCK_CHANGE_MS);
  while (hit !== undefined && fromWallClock(hit, zone) <= time) hit = nextHit(cron, hit);
  return hit === undefined ? undefined : fromWallClock(hit, zone);
}

const UNTIL = " sleeps until ";

/** Whether a reason why a pod has no place names a NodePool that sleeps: the pod may have one in the morning. */
export const waitsForMorning = (reason: string): boolean => reason.includes(UNTIL);

/** "sleeps until 2026-01-02 06:00 UTC (schedule 0 20 * * * for 10h); nodes are made from 05:55 on". */
export function sleepText(pool: Pick<NodePool, "metadata">, { morning, until }: Extract<Sleep, { readonly isAsleep: true }>): string {
  const [day = "", clock = ""] = rfc3339(morning).split("T");
  const lead = rfc3339(until).slice(11, 16);
  return `${UNTIL.trimStart()}${day} ${clock.slice(0, 5)} UTC (schedule ${pool.metadata.annotations?.[SCHEDULE]}); nodes are made from ${lead} on`;
}

/** The pools, those without a schedule of their own with that of the cluster. */
export function withClusterSchedule(pools: readonly NodePool[], schedule: string | undefined): readonly NodePool[] {
  if (schedule === undefined) return pools;
  return pools.map((pool) =>
    pool.metadata.annotations?.[SCHEDULE] === undefined
      ? { ...pool, metadata: { ...pool.metadata, annotations: { ...pool.metadata.annotations, [SCHEDULE]: schedule } } }
      : pool,
  );
}
