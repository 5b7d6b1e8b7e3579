import { expect, it } from "vitest";
import { parseDuration, parseDurationOrNever } from "#core/lib/duration.ts";

it.for([
  { text: "0s", want: 0 },
  { text: "0", want: 0 },
  { text: "1h30m", want: 5_400_000 },
  { text: "720h", want: 2_592_000_000 },
  { text: "1.5s", want: 1_500 },
  { text: "15ms", want: 15 },
  { text: "-1m", want: -60_000 },
  { text: "", want: undefined },
  { text: "5", want: undefined },
  { text: "1d", want: undefined },
  { text: "1h 30m", want: undefined },
  { text: "Never", want: undefined },
])("parseDuration reads $text as $want ms", ({ text, want }) => {
  expect(parseDuration(text)).toBe(want);
});

it("parseDurationOrNever reads Never as Infinity", () => {
  expect(parseDurationOrNever("Never")).toBe(Number.POSITIVE_INFINITY);
  expect(parseDurationOrNever("2m")).toBe(120_000);
});
