import { parseDuration } from "#core/lib/duration.ts";
import { InputError } from "#terminal/input-error.ts";

const DAY_MS = 86_400_000;

/** The moment (ms) that --since or --until names, seen from `now`. Throws InputError. */
export function momentOf(text: string, now: number, option: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(text);
  const span = days ? Number(days[1]) * DAY_MS : parseDuration(text);
  if (span !== undefined && span >= 0) return now - span;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new InputError(
      `${option} ${text}: is neither a span nor a time; write 90m, 12h or 2d, or a time such as 2026-11-25 or 2026-11-25T18:00Z`,
    );
  return at;
}

/** "2026-11-25 18:00:31", UTC. */
export const timeText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ");
