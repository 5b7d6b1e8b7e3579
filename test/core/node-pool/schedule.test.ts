import { describe, expect, it } from "vitest";
import { SCHEDULE } from "#core/model/labels.ts";
import {
  readSchedule,
  type Sleep,
  scheduleProblem,
  sleepAt,
  sleepOf,
  sleepText,
  waitsForMorning,
  withClusterSchedule,
} from "#core/node-pool/schedule.ts";
import { solve } from "#core/scheduling/solve.ts";
import { nodePool, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const poolWith = (schedule: string | undefined) => {
  const pool = nodePool();
  return schedule === undefined ? pool : { ...pool, metadata: { ...pool.metadata, annotations: { [SCHEDULE]: schedule } } };
};
const at = (text: string): number => Date.parse(text);
const said = (sleep: Sleep): string =>
  sleep.isAsleep
    ? `asleep until ${new Date(sleep.until).toISOString().slice(0, 16)}`
    : `awake until ${sleep.until === undefined ? "ever" : new Date(sleep.until).toISOString().slice(0, 16)}`;

const NIGHTS = "0 20 * * * for 10h";
const WEEK = "0 20 * * 1-4 for 10h; 0 20 * * 5 for 58h";

describe("a schedule of sleep", () => {
  it.for([
    { name: "before the night", schedule: NIGHTS, now: "2026-01-05T19:59:59Z", want: "awake until 2026-01-05T20:00" },
    { name: "at its first moment", schedule: NIGHTS, now: "2026-01-05T20:00:00Z", want: "asleep until 2026-01-06T05:55" },
    { name: "after midnight", schedule: NIGHTS, now: "2026-01-06T03:00:00Z", want: "asleep until 2026-01-06T05:55" },
    { name: "five minutes before morning it wakes", schedule: NIGHTS, now: "2026-01-06T05:55:00Z", want: "awake until 2026-01-06T20:00" },
    { name: "in those minutes it stays awake", schedule: NIGHTS, now: "2026-01-06T05:59:59Z", want: "awake until 2026-01-06T20:00" },
    { name: "a weekend in one piece", schedule: WEEK, now: "2026-01-10T12:00:00Z", want: "asleep until 2026-01-12T05:55" },
    { name: "a night of the week beside it", schedule: WEEK, now: "2026-01-08T22:00:00Z", want: "asleep until 2026-01-09T05:55" },
    {
      name: "windows that touch are one sleep, without a moment awake between",
      schedule: "0 20 * * * for 4h; 0 0 * * * for 6h",
      now: "2026-01-05T23:58:00Z",
      want: "asleep until 2026-01-06T05:55",
    },
    {
      name: "windows that overlap end with the last",
      schedule: "0 20 * * * for 10h; 0 22 * * * for 2h",
      now: "2026-01-05T22:30:00Z",
      want: "asleep until 2026-01-06T05:55",
    },
    {
      name: "in the winter of a time zone",
      schedule: "TZ=Europe/Berlin 0 20 * * * for 10h",
      now: "2026-01-05T19:00:00Z",
      want: "asleep until 2026-01-06T04:55",
    },
    {
      name: "in its summer",
      schedule: "TZ=Europe/Berlin 0 20 * * * for 10h",
      now: "2026-07-05T18:00:00Z",
      want: "asleep until 2026-07-06T03:55",
    },
    {
      name: "the night in which the clock is put forward has its morning at six on the wall",
      schedule: "TZ=Europe/Berlin 0 20 * * * for 10h",
      now: "2026-03-29T00:30:00Z",
      want: "asleep until 2026-03-29T03:55",
    },
    {
      name: "and the night in which it is put back too",
      schedule: "TZ=Europe/Berlin 0 20 * * * for 10h",
      now: "2026-10-25T00:30:00Z",
      want: "asleep until 2026-10-25T04:55",
    },
    { name: "never", schedule: "never", now: "2026-01-05T22:00:00Z", want: "awake until ever" },
    { name: "no schedule", schedule: undefined, now: "2026-01-05T22:00:00Z", want: "awake until ever" },
    { name: "one that cannot be read", schedule: "at night", now: "2026-01-05T22:00:00Z", want: "awake until ever" },
  ])("$name", ({ schedule, now, want }) => {
    expect(said(sleepOf(poolWith(schedule), at(now)))).toBe(want);
  });

  it("changes only at the times that it says it changes: a year, minute by minute, in three zones", () => {
    for (const text of [WEEK, `TZ=America/New_York ${WEEK}`, "TZ=Australia/Lord_Howe 30 1 * * * for 90m"]) {
      const schedule = readSchedule(text);
      if ("problem" in schedule) throw new Error(schedule.problem);
      let now = at("2026-01-01T00:00:00Z");
      let changes = 0;
      for (let state = sleepAt(schedule, now); changes < 250; changes++) {
        const { until } = state;
        if (until === undefined) throw new Error("it never changes");
        expect(until).toBeGreaterThan(now);
        expect(sleepAt(schedule, until - 1).isAsleep).toBe(state.isAsleep);
        expect(sleepAt(schedule, until - 1).until).toBe(until);
        now = until;
        const next = sleepAt(schedule, now);
        expect(next.isAsleep).toBe(!state.isAsleep);
        state = next;
      }
    }
  });

  it("says until when a pool sleeps, and from when on nodes are made", () => {
    const pool = poolWith(NIGHTS);
    const sleep = sleepOf(pool, at("2026-01-05T22:00:00Z"));
    expect(sleep.isAsleep && sleepText(pool, sleep)).toBe(
      "sleeps until 2026-01-06 06:00 UTC (schedule 0 20 * * * for 10h); nodes are made from 05:55 on",
    );
  });

  it("tells a pod that it waits for the morning from one that nothing can hold", () => {
    const cut = { ...poolWith(NIGHTS), metadata: { name: "night", annotations: { [SCHEDULE]: NIGHTS } } };
    const big = pod("big", { cpu: "4000" });
    const reasonAt = (text: string): string =>
      solve({ ...snapshotOf({ nodePools: [cut], pods: [big] }), now: Date.parse(text) }).podErrors["default/big"] ?? "";
    expect(waitsForMorning(reasonAt("2026-01-05T22:00:00Z"))).toBe(true);
    expect(waitsForMorning(reasonAt("2026-01-05T12:00:00Z"))).toBe(false);
  });

  it("of the cluster is that of NodePools without one, and never opts out of it", () => {
    const pools = [poolWith(undefined), poolWith("never"), poolWith("0 1 * * * for 1h")];
    expect(withClusterSchedule(pools, NIGHTS).map(({ metadata }) => metadata.annotations?.[SCHEDULE])).toEqual([
      NIGHTS,
      "never",
      "0 1 * * * for 1h",
    ]);
    expect(withClusterSchedule(pools, undefined)).toBe(pools);
  });

  it.for([
    { text: "0 20 * * * for 10h", problem: undefined },
    { text: " never ", problem: undefined },
    { text: "TZ=UTC @daily for 30m;0 12 * * sun for 1h30m", problem: undefined },
    { text: "", problem: '"" is no schedule; write a cron expression and a duration, such as "0 20 * * 1-5 for 10h"' },
    { text: "0 20 * * *", problem: '"0 20 * * *" is no schedule; write' },
    { text: "0 20 * * * for ten hours", problem: "is no schedule; write" },
    { text: "0 25 * * * for 10h", problem: "is no schedule; write" },
    { text: "0 0 30 2 * for 10h", problem: "names a day that never occurs" },
    { text: "0 20 * * * for 9m", problem: "has a window of 9m; it must last from 10m to 31d" },
    { text: "0 20 * * * for 800h", problem: "has a window of 800h; it must last from 10m to 31d" },
    {
      text: "TZ=Mars/Phobos 0 20 * * * for 10h",
      problem: "names the time zone Mars/Phobos, which is none; write one such as TZ=Europe/Berlin",
    },
    { text: "0 20 * * * for 10h;".repeat(11), problem: "has 12 windows; at most 10 are read" },
  ])('"$text" is read, or refused with a sentence', ({ text, problem }) => {
    const found = scheduleProblem(poolWith(text));
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});
