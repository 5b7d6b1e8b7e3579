import { expect, it } from "vitest";
import { isCovered } from "#core/passes/covered-events.ts";
import { NOW } from "../../support/builders.ts";

const SECOND = 1_000;

it.for([
  { what: "2.5 s before the last full read", sentAt: NOW - 2.5 * SECOND, want: true },
  { what: "less than 2.5 s before it, whose pods may have been written after it", sentAt: NOW - 2_499, want: false },
  { what: "after it", sentAt: NOW + 1, want: false },
  { what: "at a time that the message does not say", sentAt: Number.NaN, want: false },
  { what: "before any read", sentAt: NOW - 10 * SECOND, readAt: undefined, want: false },
  { what: "before a read in the future: the clock was set back", sentAt: NOW - 10 * SECOND, readAt: NOW + 6 * SECOND, want: false },
])("a wake-up sent $what is covered: $want", ({ sentAt, want, ...read }) => {
  const readAt = "readAt" in read ? read.readAt : NOW;
  expect(isCovered(sentAt, readAt, NOW + 5 * SECOND)).toBe(want);
});
