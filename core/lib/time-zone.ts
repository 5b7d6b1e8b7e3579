import { LruMap } from "./lru-map.ts";

/** Zones whose formats are kept: making one takes some 30 µs. */
const MAX_KEPT_ZONES = 20;
const formats = new LruMap<string, Intl.DateTimeFormat>(MAX_KEPT_ZONES);

/** Whether a text is a time zone of the IANA database, such as "Europe/Berlin" or "UTC". */
export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** The clock on the wall of a zone, as ms of a UTC clock that shows the same; `time` in ms since the epoch. */
export function toWallClock(time: number, zone: string): number {
  if (zone === "UTC") return time;
  const parts = new Map(
    formatOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const second = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return second + (((time % 1_000) + 1_000) % 1_000);
}

/**
 * The time, ms since the epoch, at which a wall clock of the zone shows `wall`. A clock that is put back shows some
 * times twice, of which this is one; a time that a clock leaves out becomes one of the hour beside it.
 */
export function fromWallClock(wall: number, zone: string): number {
  if (zone === "UTC") return wall;
  const first = wall - (toWallClock(wall, zone) - wall);
  return wall - (toWallClock(first, zone) - first);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" } as const;
  const made = new Intl.DateTimeFormat("en-US", { timeZone, calendar: "gregory", hourCycle: "h23", ...fields });
  formats.set(timeZone, made);
  return made;
}
