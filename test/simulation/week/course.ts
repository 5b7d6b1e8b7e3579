import { parseDuration } from "#core/lib/duration.ts";
import { play } from "../play.ts";
import { START } from "../story.ts";
import { CATALOGUE, type Policy } from "./cluster.ts";
import { type Day, ledger } from "./ledger.ts";
import { weekScript } from "./script.ts";

/** One variant of the week. It is plain data because each course is played in its own thread. */
export interface CourseOptions {
  readonly name: string;
  readonly seed: number;
  readonly days: number;
  readonly size: number;
  readonly faults: boolean;
  readonly policy: Policy;
  /** The time in which savings must repay the disruption: a Go duration, or "none". */
  readonly horizon: string;
  /** USD. */
  readonly podMoveCost: number;
}

/** The result of a course. */
export interface Course {
  readonly name: string;
  readonly days: readonly Day[];
  /** The broken invariants, one sentence each. */
  readonly violations: readonly string[];
  /** Faults that took effect, and kills among them. */
  readonly faults: number;
  readonly kills: number;
}

/** Plays a course until the world is at rest or an invariant is broken; calls `onDay` after each day. */
export async function playCourse(options: CourseOptions, onDay: (day: Day) => void): Promise<Course> {
  const { name, horizon, podMoveCost } = options;
  const book = ledger(options.days, onDay);
  const { violations, faults } = await play(weekScript(options), {
    catalogue: CATALOGUE,
    settings: {
      spotToSpotConsolidation: true,
      podMoveCost,
      horizonMs: horizon === "none" ? undefined : parseDuration(horizon),
    },
    onStart: book.open,
    onLog: book.hear,
    onEnd: book.close,
  });
  const counts = [...faults];
  return {
    name,
    days: book.days,
    violations: violations.map(
      ({ invariant, detail, at }) => `"${invariant}" after ${((at - START) / 3_600_000).toFixed(2)} hours: ${detail}`,
    ),
    faults: counts.reduce((total, [, n]) => total + n, 0),
    kills: counts.reduce((total, [kind, n]) => (kind.startsWith("kill") ? total + n : total), 0),
  };
}
