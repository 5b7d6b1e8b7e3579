import { parseDurationOrNever } from "../lib/duration.ts";

/**
 * Go holds durations as 64-bit nanoseconds: a longer one matches the schema's pattern, and then no Go client can read
 * the object.
 */
const MAX_DURATION_MS = 2 ** 63 / 1e6;

/** Problems of durations that match the schema's pattern. Fields by path; absent fields are valid. */
export function durationProblems(fields: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(fields).flatMap(([path, text]) => {
    if (text === undefined || text === "Never") return [];
    const length = parseDurationOrNever(text);
    if (length === undefined) return [`${path}: "${text}" is no duration; write it as 30m or 720h`];
    return length < MAX_DURATION_MS ? [] : [`${path}: ${text} is longer than a duration can be, which is 2562047h; use Never`];
  });
}
