import fc from "fast-check";
import { expect, it } from "vitest";
import { nextHit, parseCron } from "#core/lib/cron.ts";
import robfig from "./cron.golden.json" with { type: "json" };

function next(text: string, after: string): string | undefined {
  const cron = parseCron(text);
  if (!cron) throw new Error(`${text} does not parse`);
  const hit = nextHit(cron, Date.parse(after));
  return hit === undefined ? undefined : new Date(hit).toISOString();
}

it.for([
  { text: "* * * * *", after: "2026-01-01T00:00:00Z", want: "2026-01-01T00:01:00.000Z" },
  { text: "0 9 * * mon-fri", after: "2026-11-21T10:00:00Z", want: "2026-11-23T09:00:00.000Z" },
  { text: "@daily", after: "2026-02-28T12:00:00Z", want: "2026-03-01T00:00:00.000Z" },
  { text: "@hourly", after: "2026-02-28T12:00:00Z", want: "2026-02-28T13:00:00.000Z" },
  { text: "*/15 * * * *", after: "2026-01-01T00:44:59Z", want: "2026-01-01T00:45:00.000Z" },
  { text: "50/5 * * * *", after: "2026-01-01T00:51:00Z", want: "2026-01-01T00:55:00.000Z" },
  { text: "0 0 29 2 *", after: "2026-03-01T00:00:00Z", want: "2028-02-29T00:00:00.000Z" },
  { text: "0 0 13 * 5", after: "2026-01-01T00:00:00Z", want: "2026-01-02T00:00:00.000Z" },
  { text: "0 0 13 * ?", after: "2026-01-01T00:00:00Z", want: "2026-01-13T00:00:00.000Z" },
  { text: "0 0 30 2 *", after: "2026-01-01T00:00:00Z", want: undefined },
  { text: "1,3 4 * JAN *", after: "2026-01-05T04:01:00Z", want: "2026-01-05T04:03:00.000Z" },
])("$text after $after is $want", ({ text, after, want }) => {
  expect(next(text, after)).toBe(want);
});

it.for(["", "* * * *", "60 * * * *", "* * * * 7", "5-1 * * * *", "*/0 * * * *", "a * * * *", "@never"])("parseCron refuses %j", (text) => {
  expect(parseCron(text)).toBeUndefined();
});

it("nextHit skips no hit: no minute between two hits is a hit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 59 }),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 2e9 }),
      (minute, hour, seconds) => {
        const cron = parseCron(`${minute} ${hour} * * *`);
        if (!cron) throw new Error("must parse");
        const hit = nextHit(cron, seconds * 1000) ?? 0;
        expect(hit).toBeGreaterThan(seconds * 1000);
        expect(hit - seconds * 1000).toBeLessThanOrEqual(86_400_000);
        expect(new Date(hit).toISOString().slice(11, 16)).toBe(`${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
      },
    ),
  );
});

/** What robfig/cron takes, for the worse, and the CRD's pattern or a reader would not. */
const REFUSED_HERE = ["@every 1h", "1,,2 * * * *", ", * * * *", "*-5 * * * *", "+5 * * * *"];

// Answers of robfig/cron 3.0.1, which Karpenter uses: unusual spellings first, then random schedules.
// `go run ./cmd/cron` in test/go writes them.
it.for(robfig.map(([text, after, hits]) => ({ text, after, hits }) as RobfigCase))(
  "hits when robfig/cron does: $text",
  ({ text, after, hits }) => {
    const cron = parseCron(text);
    if (cron === undefined) expect(hits === null || REFUSED_HERE.includes(text)).toBe(true);
    else expect(after.map((at) => nextHit(cron, at) ?? null)).toEqual(hits);
  },
);

interface RobfigCase {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly after: readonly number[];
  /** The next after each; null for none, and for a text that does not parse. */
  readonly hits: readonly (number | null)[] | null;
}
