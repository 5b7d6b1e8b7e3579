import { expect, it } from "vitest";
import { isSeenAlready, noteLook } from "#functions/provision/seen-already.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { NOW } from "../../support/builders.ts";

type Deps = Parameters<typeof isSeenAlready>[1];
const SECOND = 1_000;

it.for([
  { what: "2.5 s before the last look", sentAt: NOW - 2.5 * SECOND, want: true },
  { what: "less than 2.5 s before it, whose pods may have been written after it", sentAt: NOW - 2_499, want: false },
  { what: "after it", sentAt: NOW + 1, want: false },
  { what: "at a time that the message does not say", sentAt: Number.NaN, want: false },
])("a wake-up sent $what is seen already: $want", ({ sentAt, want }) => {
  const deps: Deps = { memory: new ProcessMemory(), now: () => NOW + 5 * SECOND };
  expect(isSeenAlready(sentAt, deps)).toBe(false);
  noteLook(NOW, deps);
  noteLook(NOW - SECOND, deps);
  expect(isSeenAlready(sentAt, deps)).toBe(want);
});

it("a look in the future, before the clock was set back, has seen nothing", () => {
  const deps: Deps = { memory: new ProcessMemory(), now: () => NOW };
  noteLook(NOW + SECOND, deps);
  expect(isSeenAlready(NOW - 10 * SECOND, deps)).toBe(false);
});
