import { parseDurationOrNever } from "../lib/duration.ts";

/**
 * What the schema's patterns admit. Go holds durations as 64-bit nanoseconds, and no Go client can read a longer one.
 */
const WRITTEN = /^-?(\d+(\.\d+)?[smh])+$/;

/** Problems of durations that match the schema's pattern. Fields by path; absent fields are valid. */
export function durationProblems(fields: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(fields).flatMap(([path, text]) => {
    if (text === undefined || parseDurationOrNever(text) !== undefined) return [];
    if (!WRITTEN.test(text)) return [`${path}: "${text}" is no duration; write it as 30m or 720h`];
    return [`${path}: ${text} is longer than a duration can be, which is 2562047h; use Never`];
  });
}
