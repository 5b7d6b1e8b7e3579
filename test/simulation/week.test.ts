import { describe, expect, it } from "vitest";
import { seeded } from "#lab/world/random.ts";
import { play } from "./play.ts";
import { START } from "./story.ts";
import { CATALOGUE } from "./week/cluster.ts";
import type { Day } from "./week/ledger.ts";
import { ledger } from "./week/ledger.ts";
import { type Curve, replicasAt, scalings } from "./week/load.ts";
import { spotWalk } from "./week/market.ts";
import { weekScript } from "./week/script.ts";
import { renderCourse } from "./week/table.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OFFICE: Curve = { night: 10, day: 100, peakHour: 13, weekend: 0.5 };

describe("the load", () => {
  it.for([
    { name: "at its peak on a Thursday", day: 0, hour: 13, want: 100 },
    { name: "half of the way up four hours before", day: 0, hour: 9, want: 55 },
    { name: "at night", day: 0, hour: 1, want: 10 },
    { name: "at its peak on a Saturday", day: 2, hour: 13, want: 55 },
  ])("$name", ({ day, hour, want }) => {
    expect(replicasAt(OFFICE, START + day * DAY_MS + hour * HOUR_MS)).toBe(want);
  });

  it("the replicas follow the load in steps above the autoscaler's tolerance, within the noise of the curve", () => {
    const steps = scalings(OFFICE, START, DAY_MS, seeded(1));
    let before = replicasAt(OFFICE, START);
    for (const { at, replicas } of steps) {
      expect(Math.abs(replicas - before)).toBeGreaterThan(0.1 * before);
      // A step is applied up to ten minutes after it was computed.
      const close = [0, 5, 10].some((late) => Math.abs(replicas / replicasAt(OFFICE, START + at * 1_000 - late * 60_000) - 1) < 0.13);
      expect(close, `${replicas} at ${at} s`).toBe(true);
      before = replicas;
    }
    expect(steps.length).toBeGreaterThan(20);
  });
});

describe("the market", () => {
  const walk = spotWalk(CATALOGUE, 48, seeded(2));

  it("spot prices change each hour and never exceed the on-demand price", () => {
    expect(walk).toHaveLength(48);
    const isFair = (type: string, price: number): boolean => price > 0 && price < (CATALOGUE.onDemand[type] ?? 0);
    const unfair = walk.flatMap((spot) =>
      Object.entries(spot).flatMap(([type, zones]) => Object.values(zones).filter((price) => !isFair(type, price))),
    );
    expect(unfair).toEqual([]);
    expect(walk[1]).not.toEqual(walk[0]);
  });

  it("spot prices stay near the first price", () => {
    const ratios = Object.entries(walk.at(-1) ?? {}).flatMap(([type, zones]) =>
      Object.entries(zones).map(([zone, price]) => price / (CATALOGUE.spot?.[type]?.[zone] ?? 0)),
    );
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
    expect(mean).toBeGreaterThan(0.9);
    expect(mean).toBeLessThan(1.1);
  });
});

it("load, market and interruptions of a week are the same for every policy", () => {
  const [off, on] = (["WhenEmpty", "WhenEmptyOrUnderutilized"] as const).map((policy) =>
    weekScript({ seed: 3, days: 2, size: 1, policy, faults: true }),
  );
  expect(on?.events).toEqual(off?.events);
  expect(on?.objects).not.toEqual(off?.objects);
});

it("the first three hours of a small cluster breaks no invariant, and every instance is on the bill", { timeout: 180_000 }, async () => {
  const book = ledger(1);
  const script = weekScript({ seed: 2, days: 1, size: 0.1, policy: "WhenEmptyOrUnderutilized", faults: false });
  let cost = 0;
  const { violations, machines } = await play(
    { ...script, minutes: 180 },
    {
      catalogue: CATALOGUE,
      settings: { spotToSpotConsolidation: true },
      onStart: book.open,
      onLog: book.hear,
      onEnd: (lab) => {
        book.close(lab);
        cost = lab.cloud.cost();
      },
    },
  );
  expect(violations).toEqual([]);
  const [day] = book.days;
  expect(day?.launched).toBe(machines);
  expect(day?.spent).toBeCloseTo(cost);
  expect(cost).toBeGreaterThan(0);
  expect((day?.emptied ?? 0) + (day?.removed ?? 0) + (day?.replaced ?? 0)).toBeGreaterThan(0);
});

it("the table shows the savings against the same days without consolidation", () => {
  const day = (more: Partial<Day>): Day => ({
    ...{ moved: 0, movedOtherwise: 0, emptied: 0, removed: 0, replaced: 0, launched: 0, fewestNodes: 5, mostNodes: 9, spent: 0 },
    ...more,
  });
  const course = (days: readonly Day[]) => ({ name: "a course", days, violations: [], faults: 0, kills: 0 });
  const baseline = course([day({ spent: 20 }), day({ spent: 30 })]);
  const lines = renderCourse(course([day({ spent: 15, moved: 10 }), day({ spent: 24, moved: 1 })]), baseline);
  const cells = lines.map((line) => line.split(/ {2,}/));
  expect(cells.slice(2)).toEqual([
    ["Thu, 01", "5-9", "0", "0", "0", "0", "10", "0", "15.00", "5.00", "0.500"],
    ["Fri, 02", "5-9", "0", "0", "0", "0", "1", "0", "24.00", "6.00", "6.000"],
    ["all", "0", "0", "0", "0", "11", "0", "39.00", "11.00", "1.000"],
  ]);
});
