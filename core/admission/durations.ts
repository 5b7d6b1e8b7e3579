import { parseDurationOrNever } from "../lib/duration.ts";

/** Go counts nanoseconds in 64 bits: longer ones pass the schema's pattern, and then no client in Go can read the object. */
const LONGEST_MS = 2 ** 63 / 1e6;

/** What is wrong with durations that the schema's pattern has let through; fields by path, absent ones are fine. */
export function durationProblems(fields: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(fields).flatMap(([path, text]) => {
    if (text === undefined || text === "Never") return [];
    const length = parseDurationOrNever(text);
    if (length === undefined) return [`${path}: "${text}" is no duration; write it as 30m or 720h`];
    return length < LONGEST_MS ? [] : [`${path}: ${text} is longer than a duration can be, which is 2562047h; use Never`];
  });
}
