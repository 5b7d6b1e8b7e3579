import { ownValue } from "./own-value.ts";

/** The allowed values of one field; `any` is true for a field written as * or ?. */
interface Field {
  readonly values: ReadonlySet<number>;
  readonly any: boolean;
}

/** A schedule in UTC, to the minute. */
export interface Cron {
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
}

const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

function parseNumber(text: string, names: readonly string[], firstName: number): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + firstName;
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A range, "*" or a value, with an optional step; undefined when malformed or out of bounds. */
function parseRange(text: string, min: number, max: number, names: readonly string[]): Field | undefined {
  const [range, stepText, ...rest] = text.split("/");
  if (range === undefined || rest.length > 0) return undefined;
  const step = stepText === undefined ? 1 : parseNumber(stepText, [], 0);
  if (step === undefined || step === 0) return undefined;
  const any = range === "*" || range === "?";
  const [fromText, toText, ...more] = any ? [] : range.split("-");
  if (more.length > 0) return undefined;
  const from = any ? min : parseNumber(fromText ?? "", names, min);
  // "5/15" runs to the end of the field, as "5-59/15" does.
  const to = any || (toText === undefined && stepText !== undefined) ? max : toText === undefined ? from : parseNumber(toText, names, min);
  if (from === undefined || to === undefined || from < min || to > max || from > to) return undefined;
  const values = new Set<number>();
  for (let value = from; value <= to; value += step) values.add(value);
  return { values, any: any && step === 1 };
}

function parseField(text: string, min: number, max: number, names: readonly string[] = []): Field | undefined {
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(",")) {
    const range = parseRange(part, min, max, names);
    if (!range) return undefined;
    for (const value of range.values) values.add(value);
    any ||= range.any;
  }
  return { values, any };
}

/**
 * Parses five fields (lists, ranges, steps, names of months and days) or a descriptor such as @daily; undefined when
 * the text is not a schedule.
 */
export function parseCron(text: string): Cron | undefined {
  const fields = (ownValue(DESCRIPTORS, text.trim()) ?? text).trim().split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [m = "", h = "", dom = "", mon = "", dow = ""] = fields;
  const minute = parseField(m, 0, 59);
  const hour = parseField(h, 0, 23);
  const dayOfMonth = parseField(dom, 1, 31);
  const month = parseField(mon, 1, 12, MONTHS);
  const dayOfWeek = parseField(dow, 0, 6, DAYS);
  return minute && hour && dayOfMonth && month && dayOfWeek ? { minute, hour, dayOfMonth, month, dayOfWeek } : undefined;
}

/** When both day fields are restricted, either may match, as in every cron since Vixie's. */
function dayMatches(cron: Cron, date: Date): boolean {
  const byMonth = cron.dayOfMonth.values.has(date.getUTCDate());
  const byWeek = cron.dayOfWeek.values.has(date.getUTCDay());
  return cron.dayOfMonth.any || cron.dayOfWeek.any ? byMonth && byWeek : byMonth || byWeek;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** 29 February recurs within eight years; the horizon ends the search for a date that never occurs. */
const HORIZON_MS = 9 * 366 * DAY;

/**
 * The first hit strictly after `after` (ms since the epoch); undefined for a schedule without one, such as 30 February.
 */
export function nextHit(cron: Cron, after: number): number | undefined {
  let time = (Math.floor(after / MINUTE) + 1) * MINUTE;
  const end = after + HORIZON_MS;
  while (time <= end) {
    const date = new Date(time);
    if (!cron.month.values.has(date.getUTCMonth() + 1)) {
      time = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    } else if (!dayMatches(cron, date)) {
      time = (Math.floor(time / DAY) + 1) * DAY;
    } else if (!cron.hour.values.has(date.getUTCHours())) {
      time = (Math.floor(time / HOUR) + 1) * HOUR;
    } else if (!cron.minute.values.has(date.getUTCMinutes())) {
      time += MINUTE;
    } else {
      return time;
    }
  }
  return undefined;
}
